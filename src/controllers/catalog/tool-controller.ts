// Tool: whether its endpoint can be reached and the Secret that it names exists.
import { assignServer } from '../../catalog/tools.ts'
import { findAwaited } from '../../contract/awaited.ts'
import type { SecretKeyRef } from '../../contract/resources/references.ts'
import { type Tool, type ToolStatus, toolProblems } from '../../contract/resources/tool.ts'
import type { ListedTool } from '../../contract/resources/tool-mcp.ts'
import { summarize } from '../../contract/validation.ts'
import { isSvcError } from '../../errors.ts'
import { chooseListedTools } from '../../rules/mcp-tools.ts'
import { readAllowedHosts } from '../../rules/trusted-address.ts'
import { type Controller, defineController, type Reconciled } from '../engine/controller.ts'
import { formatKey, parseKey } from '../engine/key.ts'
import { createEndpointChecks, type EndpointChecks } from './endpoint-check.ts'
import { createOwnSource, createSecretSource } from './object-source.ts'
import { createReferenceIndex, nameReference } from './reference-index.ts'
import type { CatalogDeps } from './settings.ts'
import { setReady, writeCatalogStatus } from './status.ts'

function listSecretRefs({ spec }: Tool): SecretKeyRef[] {
  return [spec.http?.authSecretRef, spec.mcp?.oauth?.clientSecretRef].filter((one) => one !== undefined)
}

function listReferences(tool: Tool): string[] {
  return listSecretRefs(tool).map(({ name }) => nameReference('Secret', tool.metadata.namespace, name))
}

type Credential = { problem?: string; allowedHosts?: string[] | undefined }

async function checkCredential({ secrets }: CatalogDeps, tool: Tool): Promise<Credential> {
  const [reference] = listSecretRefs(tool)
  if (reference === undefined) return {}
  const secret = await secrets.describe({ namespace: tool.metadata.namespace, name: reference.name })
  if (secret === undefined) return { problem: `secret "${reference.name}" does not exist; create it` }
  if (!secret.keys.includes(reference.key)) {
    return { problem: `secret "${reference.name}" has no key "${reference.key}"; add it` }
  }
  return { allowedHosts: readAllowedHosts(secret.annotations) }
}

type Finding = { problem: string | undefined; tools?: ListedTool[]; lastCheck?: Date; nextAt?: Date }
type ToolContext = CatalogDeps & { checks: EndpointChecks }

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
  const problems = [...toolProblems(tool.spec), ...findAwaited('Tool', tool.spec)]
  if (problems.length > 0) return { problem: summarize('tool', problems) }
  const credential = await checkCredential(context, tool)
  if (credential.problem !== undefined) return { problem: credential.problem }
  const target = await chooseTarget(context, tool, credential).catch(explainTarget)
  if ('problem' in target) return target
  const endpoint = await context.checks.check(formatKey(tool.metadata), target, signal)
  const times = { lastCheck: endpoint.at, nextAt: endpoint.nextAt }
  if (endpoint.state !== 'reachable') return { problem: endpoint.message, ...times }
  if (endpoint.offered === undefined) return { problem: undefined, ...times }
  const asked = { name: tool.metadata.name, patterns: tool.spec.mcp?.tools }
  return { problem: undefined, ...chooseListedTools(asked, endpoint.offered), ...times }
}

/** Of a server that cannot be asked, the tools that it had before are kept: a call says why it fails. */
function keepTools(tool: Tool, { tools }: Finding): Pick<ToolStatus, 'tools'> {
  if (tools !== undefined) return { tools }
  const isSame = tool.spec.mcp?.url !== undefined && tool.status?.endpoint === tool.spec.mcp.url
  return isSame && tool.status?.tools !== undefined ? { tools: tool.status.tools } : {}
}

async function reconcileTool(context: ToolContext, key: string, signal: AbortSignal): Promise<Reconciled> {
  const { resources, clock } = context
  const tool = await resources.get('Tool', parseKey(key))
  if (tool === undefined) {
    context.checks.forget(key)
    return undefined
  }
  const finding = await inspect(context, tool, signal)
  const { problem, lastCheck, nextAt } = finding
  if (signal.aborted) return undefined
  const reasons: [string, string] = ['EndpointReachable', 'EndpointUnavailable']
  const outcome = { problem, good: 'the endpoint answers', reasons }
  const { error: _error, tools: _tools, ...before } = tool.status ?? {}
  const status: ToolStatus = {
    ...before,
    available: problem === undefined,
    endpoint: tool.spec.http?.url ?? tool.spec.mcp?.url ?? '',
    ...keepTools(tool, finding),
    conditions: setReady(tool.status?.conditions, outcome, clock.now()),
    ...(lastCheck !== undefined && { lastCheck: lastCheck.toISOString() }),
    ...(problem !== undefined && { error: problem }),
  }
  await writeCatalogStatus(resources, 'Tool', tool, status)
  return nextAt === undefined ? undefined : { requeueAfterMs: Math.max(0, nextAt.getTime() - clock.now().getTime()) }
}

export function createToolController(deps: CatalogDeps): Controller {
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
