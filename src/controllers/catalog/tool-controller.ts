// Tool: whether its endpoint can be reached and the Secret that it names exists.
import { findAwaited } from '../../contract/awaited.ts'
import { type Tool, type ToolStatus, toolProblems } from '../../contract/resources/tool.ts'
import { summarize } from '../../contract/validation.ts'
import { readAllowedHosts } from '../../rules/trusted-address.ts'
import { type Controller, defineController, type Reconciled } from '../engine/controller.ts'
import { formatKey, parseKey } from '../engine/key.ts'
import { createEndpointChecks, type EndpointChecks } from './endpoint-check.ts'
import { createOwnSource, createSecretSource } from './object-source.ts'
import { createReferenceIndex, nameReference } from './reference-index.ts'
import type { CatalogDeps } from './settings.ts'
import { setReady, writeCatalogStatus } from './status.ts'

function listReferences({ metadata, spec }: Tool): string[] {
  const secret = spec.http?.authSecretRef
  return secret === undefined ? [] : [nameReference('Secret', metadata.namespace, secret.name)]
}

type Credential = { problem?: string; allowedHosts?: string[] | undefined }

async function checkCredential({ secrets }: CatalogDeps, { metadata, spec }: Tool): Promise<Credential> {
  const reference = spec.http?.authSecretRef
  if (reference === undefined) return {}
  const secret = await secrets.describe({ namespace: metadata.namespace, name: reference.name })
  if (secret === undefined) return { problem: `secret "${reference.name}" does not exist; create it` }
  if (!secret.keys.includes(reference.key)) {
    return { problem: `secret "${reference.name}" has no key "${reference.key}"; add it` }
  }
  return { allowedHosts: readAllowedHosts(secret.annotations) }
}

type Finding = { problem: string | undefined; lastCheck?: Date; nextAt?: Date }
type ToolContext = CatalogDeps & { checks: EndpointChecks }

/** Whether the tool can be used, and why not. */
async function inspect(context: ToolContext, tool: Tool, signal: AbortSignal): Promise<Finding> {
  const problems = [...toolProblems(tool.spec), ...findAwaited('Tool', tool.spec, {})]
  if (problems.length > 0) return { problem: summarize('tool', problems) }
  const { problem, allowedHosts } = await checkCredential(context, tool)
  if (problem !== undefined) return { problem }
  const target = { url: tool.spec.http?.url ?? '', policy: allowedHosts === undefined ? {} : { allowedHosts } }
  const endpoint = await context.checks.check(formatKey(tool.metadata), target, signal)
  const times = { lastCheck: endpoint.at, nextAt: endpoint.nextAt }
  return { problem: endpoint.state === 'reachable' ? undefined : endpoint.message, ...times }
}

async function reconcileTool(context: ToolContext, key: string, signal: AbortSignal): Promise<Reconciled> {
  const { resources, clock } = context
  const tool = await resources.get('Tool', parseKey(key))
  if (tool === undefined) {
    context.checks.forget(key)
    return undefined
  }
  const { problem, lastCheck, nextAt } = await inspect(context, tool, signal)
  if (signal.aborted) return undefined
  const reasons: [string, string] = ['EndpointReachable', 'EndpointUnavailable']
  const outcome = { problem, good: 'the endpoint answers', reasons }
  const { error: _error, ...before } = tool.status ?? {}
  const status: ToolStatus = {
    ...before,
    available: problem === undefined,
    endpoint: tool.spec.http?.url ?? '',
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
