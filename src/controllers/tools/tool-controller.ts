// Tool: whether its endpoint can be reached and the Secret that it names exists.
import type { McpServer } from '../../contract/api/tools/assigned-tool.ts'
import type { SecretKeyRef } from '../../contract/kinds/resources/references.ts'
import { type Tool, type ToolActorStatus, type ToolStatus, toolProblems } from '../../contract/kinds/tools/tool.ts'
import type { LeftOutTool, ListedTool } from '../../contract/kinds/tools/tool-http.ts'
import { summarizeProblems } from '../../contract/schema/validation.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { assignServer } from '../../lookup/tools.ts'
import type { EgressPolicy } from '../../ports/service/egress.ts'
import type { OfferedTools } from '../../ports/tools/tools.ts'
import { WorkspaceError } from '../../ports/workspaces/execution-workspaces.ts'
import { readAllowedHosts } from '../../rules/providers/address.ts'
import { chooseListedTools, findMissingTool } from '../../rules/tools/choice.ts'
import { type Controller, defineController, formatKey, parseKey, type Reconciled } from '../engine/controller.ts'
import { createOwnSource, createReferenceIndex, createSecretSource, nameReference } from '../resources/object-source.ts'
import type { ResourceControllerDeps } from '../resources/settings.ts'
import { setReady, writeResourceStatus } from '../resources/status.ts'
import { ensureActor, settleActor } from './tool-actor.ts'

type EndpointState =
  | { state: 'reachable'; offered?: OfferedTools }
  | { state: 'refused' | 'unreachable'; message: string }
type EndpointCheck = EndpointState & { at: Date; nextAt: Date }

/** An MCP server is asked for its tools. */
type Target = ({ url: string; policy: Pick<EgressPolicy, 'trusted' | 'allowedHosts'> } | { server: McpServer }) & {
  /** Milliseconds after which one that cannot be reached is tried again. */
  retryMs?: number
}

type EndpointChecks = {
  /** The last check of the object's endpoint, or a new one when that is too old or was for another endpoint. */
  check(key: string, target: Target, signal: AbortSignal): Promise<EndpointCheck>
  forget(key: string): void
  clear(): void
}

const timeoutMs = 10_000
const retryMs = 30_000

/** Any HTTP answer of a plain endpoint counts as reachable: one for POST may refuse a HEAD. */
async function ask({ egress, settings, listMcpTools }: ResourceControllerDeps, target: Target, signal: AbortSignal) {
  if ('server' in target) return { offered: await listMcpTools(target.server, signal) }
  const policy = { ...settings.egress, ...target.policy }
  const request = { url: target.url, method: 'HEAD', maxBytes: 1024, timeoutMs, maxRedirects: 0, policy }
  await egress.request(request, signal)
  return {}
}

async function look(deps: ResourceControllerDeps, target: Target, signal: AbortSignal): Promise<EndpointState> {
  try {
    return { state: 'reachable', ...(await ask(deps, target, signal)) }
  } catch (error) {
    const state = isSvcError(error, 'Forbidden') ? 'refused' : 'unreachable'
    return { state, message: messageOf(error) }
  }
}

function createEndpointChecks(deps: ResourceControllerDeps): EndpointChecks {
  const { clock, settings } = deps
  const seen = new Map<string, { target: string; check: EndpointCheck }>()
  return {
    async check(key, target, signal) {
      const spelled = JSON.stringify(target)
      const before = seen.get(key)
      if (before?.target === spelled && before.check.nextAt > clock.now()) return before.check
      const state = await look(deps, target, signal)
      const at = clock.now()
      const pauseMs =
        state.state === 'unreachable'
          ? Math.min(target.retryMs ?? retryMs, settings.checkIntervalMs)
          : settings.checkIntervalMs
      const check = { ...state, at, nextAt: new Date(at.getTime() + pauseMs) }
      if (!signal.aborted) seen.set(key, { target: spelled, check })
      return check
    },
    forget: (key) => void seen.delete(key),
    clear: () => seen.clear(),
  }
}

function listSecretRefs({ spec }: Tool): SecretKeyRef[] {
  return [spec.http?.authSecretRef, spec.mcp?.oauth?.clientSecretRef].filter((one) => one !== undefined)
}

function listReferences(tool: Tool): string[] {
  return listSecretRefs(tool).map(({ name }) => nameReference('Secret', tool.metadata.namespace, name))
}

type Credential = { problem?: string; allowedHosts?: string[] | undefined }

async function checkCredential({ secrets }: ResourceControllerDeps, tool: Tool): Promise<Credential> {
  const [reference] = listSecretRefs(tool)
  if (reference === undefined) return {}
  const secret = await secrets.describe({ namespace: tool.metadata.namespace, name: reference.name })
  if (secret === undefined) return { problem: `secret "${reference.name}" does not exist; create it` }
  if (!secret.keys.includes(reference.key)) {
    return { problem: `secret "${reference.name}" has no key "${reference.key}"; add it` }
  }
  return { allowedHosts: readAllowedHosts(secret.annotations) }
}

type Finding = {
  problem: string | undefined
  tools?: ListedTool[]
  leftOut?: LeftOutTool[]
  actor?: ToolActorStatus
  endpoint?: string
  lastCheck?: Date
  nextAt?: Date
}
type ToolContext = ResourceControllerDeps & { checks: EndpointChecks }

/** An actor that was just resumed needs a moment. */
const actorRetryMs = 2000

async function chooseTarget({ secrets }: ToolContext, tool: Tool, { allowedHosts }: Credential) {
  if (tool.spec.mcp?.url !== undefined) return { server: await assignServer(secrets, tool) }
  return { url: tool.spec.http?.url ?? '', policy: allowedHosts === undefined ? {} : { allowedHosts } }
}

/** A Secret that was removed in between, or that belongs to a task. */
function explainTarget(error: unknown): { problem: string } {
  if (isSvcError(error)) return { problem: error.message }
  throw error
}

/** Whether the tool can be used, and why not. */
async function inspect(context: ToolContext, tool: Tool, signal: AbortSignal): Promise<Finding> {
  const problems = toolProblems(tool.spec)
  if (problems.length > 0) return { problem: summarizeProblems('tool', problems) }
  const credential = await checkCredential(context, tool)
  if (credential.problem !== undefined) return { problem: credential.problem }
  if (tool.spec.mcp?.actor !== undefined) return inspectActor(context, tool, signal)
  const target = await chooseTarget(context, tool, credential).catch(explainTarget)
  if ('problem' in target) return target
  const endpoint = await context.checks.check(formatKey(tool.metadata), target, signal)
  const times = { lastCheck: endpoint.at, nextAt: endpoint.nextAt }
  if (endpoint.state !== 'reachable') return { problem: endpoint.message, ...times }
  if (endpoint.offered === undefined) return { problem: undefined, ...times }
  const wanted = { name: tool.metadata.name, patterns: tool.spec.mcp?.tools }
  const { tools, leftOut } = endpoint.offered
  return { problem: undefined, ...chooseListedTools(wanted, tools), leftOut, ...times }
}

async function inspectActor(context: ToolContext, tool: Tool, signal: AbortSignal): Promise<Finding> {
  const state = await ensureActor(context, tool, signal)
  if (typeof state === 'string') return { problem: state }
  const { address, status: actor } = state
  const found = { actor, endpoint: `${address.router}${tool.spec.mcp?.path ?? ''}` }
  const now = context.clock.now()
  const soon = { lastCheck: now, nextAt: new Date(now.getTime() + actorRetryMs) }
  if (state.problem !== undefined) return { problem: state.problem, ...found, ...soon }
  const server = await assignServer(context.secrets, tool, address)
  const target = { server, retryMs: actorRetryMs }
  const answer = await context.checks.check(formatKey(tool.metadata), target, signal)
  const times = { lastCheck: answer.at, nextAt: answer.nextAt }
  if (answer.state !== 'reachable') return { problem: answer.message, ...found, ...times }
  return { problem: findMissingTool(tool.metadata.name, answer.offered?.tools ?? []), ...found, ...times }
}

/** Of a server that cannot be asked, the tools that it had before are kept: a call says why it fails. */
function keepTools(tool: Tool, { tools }: Finding): Pick<ToolStatus, 'tools'> {
  if (tools !== undefined) return { tools }
  const isSame = tool.spec.mcp?.url !== undefined && tool.status?.endpoint === tool.spec.mcp.url
  return isSame && tool.status?.tools !== undefined ? { tools: tool.status.tools } : {}
}

async function reconcileTool(context: ToolContext, key: string, signal: AbortSignal): Promise<Reconciled> {
  const { resources, clock } = context
  const stored = await resources.get('Tool', parseKey(key))
  const tool = stored && (await settleActor(context, stored).catch(explainRemoval))
  if (tool === 'later') return { requeueAfterMs: actorRetryMs }
  if (tool === undefined) {
    context.checks.forget(key)
    return undefined
  }
  const finding = await inspect(context, tool, signal)
  if (signal.aborted) return undefined
  await writeResourceStatus(resources, 'Tool', tool, describeFinding(tool, finding, clock.now()))
  const { nextAt } = finding
  return nextAt === undefined ? undefined : { requeueAfterMs: Math.max(0, nextAt.getTime() - clock.now().getTime()) }
}

/** The actor service may answer later. */
function explainRemoval(error: unknown): 'later' {
  if (error instanceof WorkspaceError) return 'later'
  throw error
}

function describeGood({ leftOut = [] }: Finding): string {
  const [first] = leftOut
  if (first === undefined) return 'the endpoint answers'
  const others = leftOut.length > 1 ? `, and ${leftOut.length - 1} more` : ''
  return `the endpoint answers; left out: ${first.name} (${first.reason})${others}`
}

function describeFinding(tool: Tool, finding: Finding, now: Date): ToolStatus {
  const { problem, lastCheck } = finding
  const actor = finding.actor ?? (tool.spec.mcp?.actor === undefined ? undefined : tool.status?.actor)
  const reasons: [string, string] = ['EndpointReachable', 'EndpointUnavailable']
  const outcome = { problem, good: describeGood(finding), reasons }
  const { error: _error, tools: _tools, leftOutTools: _leftOut, actor: _actor, ...before } = tool.status ?? {}
  return {
    ...before,
    available: problem === undefined,
    endpoint: finding.endpoint ?? tool.spec.http?.url ?? tool.spec.mcp?.url ?? '',
    ...(actor !== undefined && { actor }),
    ...keepTools(tool, finding),
    ...(finding.leftOut !== undefined && finding.leftOut.length > 0 && { leftOutTools: finding.leftOut }),
    conditions: setReady(tool.status?.conditions, outcome, now),
    ...(lastCheck !== undefined && { lastCheck: lastCheck.toISOString() }),
    ...(problem !== undefined && { error: problem }),
  }
}

export function createToolController(deps: ResourceControllerDeps): Controller {
  const index = createReferenceIndex()
  const checks = createEndpointChecks(deps)
  return defineController({
    name: 'tools',
    sources: [createOwnSource(deps, 'Tool', index, listReferences), createSecretSource(deps, index)],
    concurrency: 4,
    begin() {
      index.clear()
      checks.clear()
    },
    reconcile: (key, signal) => reconcileTool({ ...deps, checks }, key, signal),
  })
}
