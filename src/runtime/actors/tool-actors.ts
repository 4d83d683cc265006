// Actors of Tools: made once, and running as long as the Tool exists.
import type { ToolActorSpec, ToolActors } from '../../ports/tools/tools.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { findPoolProblem, findUnready, hostOfActor } from '../../rules/workspaces/actor-templates.ts'
import type { ActorControl } from './control.ts'
import { refOf, removeActor } from './state.ts'
import { type ActorTemplates, createActorClaims } from './templates.ts'

export type ToolActorsOptions = {
  control: ActorControl
  installation: string
  templates: ActorTemplates
  routerUrl: string
  dnsSuffix: string
  templateNamespace?: string | undefined
  isolated: boolean
}

export function createToolActors(options: ToolActorsOptions): ToolActors {
  const { control, templates } = options
  const claims = createActorClaims(templates)

  async function requireTemplate({ template }: ToolActorSpec): Promise<void> {
    const found = await claims.readTemplate(template)
    const problem = findUnready(found)
    if (problem !== undefined) throw new WorkspaceError(problem.reason, problem.message)
  }

  async function make(actor: ToolActorSpec): Promise<void> {
    await requireTemplate(actor)
    await control.create(refOf(actor), actor.template, await claims.requirePool(actor))
  }

  return {
    templateNamespace: options.templateNamespace,
    installation: options.installation,
    isolated: options.isolated,
    addressOf: (actor) => ({ router: new URL(options.routerUrl).origin, host: hostOfActor(actor, options.dnsSuffix) }),
    async findPoolProblem({ pool, template }) {
      const found = pool === undefined ? undefined : await templates.pool(pool)
      return found === undefined ? undefined : findPoolProblem(found, template)
    },
    async ensure(actor, signal) {
      const ref = refOf(actor)
      const found = await control.get(ref)
      if (found?.status === 'STATUS_RUNNING') return
      if (found === undefined) await make(actor)
      const isFirst = found === undefined || found.latest_snapshot_info === null
      await control.resume(ref, actor.boot && isFirst, signal)
    },
    remove: (actor) => removeActor(control, refOf(actor)),
  }
}
