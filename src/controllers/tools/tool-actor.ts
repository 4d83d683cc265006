// The actor that runs the MCP server of a Tool: made with the Tool, another one when it is to be made from something else,
// removed with the Tool.
import type { Tool, ToolActorStatus } from '../../contract/kinds/tools/tool.ts'
import { ignoring } from '../../errors.ts'
import type { ActorAddress, ToolActorSpec } from '../../ports/tools/tools.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { findActorObstacle } from '../../rules/identity/isolation.ts'
import { cleanupFinalizer } from '../../rules/tasks/schedule.ts'
import {
  actorsAreOff,
  describeToolActor,
  isActorOfTool,
  type ToolActorHome,
} from '../../rules/workspaces/actor-templates.ts'
import type { ResourceControllerDeps } from '../resources/settings.ts'

type Context = Pick<ResourceControllerDeps, 'resources' | 'toolActors' | 'log'>

/** What the status of the Tool says of it; no credential, nothing of the machine that it runs on (MCP-013). */
function showActor(actor: ToolActorSpec, { host }: ActorAddress): ToolActorStatus {
  const { name, template, pool } = actor
  return {
    provider: 'actor',
    actorID: name,
    routeHost: host,
    templateRef: template,
    ...(pool === undefined ? {} : { poolRef: pool }),
  }
}

type ActorState = { address: ActorAddress; status: ToolActorStatus; problem?: string }

/** Makes and resumes the actor; `problem` says why it does not run yet. */
export async function ensureActor(
  { toolActors }: Context,
  tool: Tool,
  signal: AbortSignal,
): Promise<ActorState | string> {
  if (toolActors === undefined) return `mcp.actor ${actorsAreOff}`
  const obstacle = findActorObstacle(tool, toolActors)
  const actor = describeToolActor(tool, toolActors)
  const address = toolActors.addressOf(actor)
  const state = { address, status: showActor(actor, address) }
  try {
    for (const name of listActors(tool, toolActors)) {
      const isWanted = obstacle === undefined && name === actor.name
      if (!isWanted) await toolActors.remove({ namespace: actor.namespace, name })
    }
    if (obstacle !== undefined) return `mcp.actor: ${obstacle}`
    await toolActors.ensure(actor, signal)
    return state
  } catch (error) {
    if (!(error instanceof WorkspaceError)) throw error
    return { ...state, problem: error.message }
  }
}

async function setFinalizer({ resources }: Context, tool: Tool, wanted: boolean): Promise<Tool | undefined> {
  const others = (tool.metadata.finalizers ?? []).filter((one) => one !== cleanupFinalizer)
  const finalizers = wanted ? [...others, cleanupFinalizer] : others
  return ignoring(resources.update('Tool', { ...tool, metadata: { ...tool.metadata, finalizers } }), 'NotFound')
}

/** Also one that was made just before the service ended, and which the status does not name. */
function listActors(tool: Tool, home: ToolActorHome): string[] {
  const own = tool.spec.mcp?.actor === undefined ? undefined : describeToolActor(tool, home).name
  const reported = tool.status?.actor?.actorID
  const before = reported !== undefined && isActorOfTool(tool, reported, home.installation) ? reported : undefined
  return [...new Set([own, before])].filter((name) => name !== undefined)
}

async function dropActors({ toolActors, log }: Context, tool: Tool): Promise<void> {
  const { namespace } = tool.metadata
  if (toolActors === undefined) {
    log.warn({ tool: tool.metadata.name, namespace }, 'actors are off: the actor of a tool is left behind')
    return
  }
  for (const name of listActors(tool, toolActors)) await toolActors.remove({ namespace, name })
}

/**
 * The Tool, with what keeps it until its actor is removed; undefined when there is nothing more to do for it. Rejects with
 * WorkspaceError when its actor cannot be removed now.
 */
export async function settleActor(context: Context, tool: Tool): Promise<Tool | undefined> {
  const hasFinalizer = tool.metadata.finalizers?.includes(cleanupFinalizer) === true
  const isDeleted = tool.metadata.deletionTimestamp !== undefined
  const hasActor = !isDeleted && tool.spec.mcp?.actor !== undefined
  if (!hasActor && hasFinalizer) {
    await dropActors(context, tool)
    return (await setFinalizer(context, tool, false)) && (isDeleted ? undefined : tool)
  }
  if (hasActor && !hasFinalizer && context.toolActors !== undefined) return setFinalizer(context, tool, true)
  return isDeleted ? undefined : tool
}
