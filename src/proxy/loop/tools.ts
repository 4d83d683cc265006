// The tools of one request: the caller's own, which end the loop, and the service's, which run here.
import type { HostTool, ToolHost } from '../../llm/loop/tool-host.ts'
import type { ToolSchema } from '../../llm/messages/messages.ts'
import { createLookupCaches } from '../../lookup/cache.ts'
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import type { ScratchLease } from '../../ports/workspaces/sandbox.ts'
import { builtinTools, createToolHost } from '../../tools/registry/registry.ts'
import { createLinks, type Links, type ModelTool, showTool, type ToolContext } from '../../tools/registry/tool.ts'
import { explainToolError } from '../../tools/registry/tool-error.ts'
import { propagateOf } from '../../usecases/identity/tool-token.ts'
import {
  type CustomTools,
  createCustomToolCache,
  keepUsable,
  requireUsable,
} from '../../usecases/tools/custom-tools.ts'
import { accountOf } from '../request.ts'
import type { ProxyCall } from '../types.ts'
import type { ProxyLoopDeps } from './model.ts'

export type LoopTools = {
  host: ToolHost
  redact: Redactor
  isExternal(name: string): boolean
  /** Names of the tools that the service offers in addition to the caller's. */
  added: readonly string[]
  /** Ends what its tools have kept open. Never rejects. */
  close(): Promise<void>
}

type ServerTools = { tools: ModelTool[]; custom: CustomTools }

export type ToolOpener = {
  open(call: ProxyCall, own: ToolSchema[], session: string): Promise<LoopTools>
  /** Whether there is anything to offer in a namespace. */
  hasTools(namespace: string): Promise<boolean>
  /** Stops following the tools of namespaces. */
  close(): void
}

/** How long the list of built-in tools stays valid. */
const builtinMs = 1000

const none: CustomTools = { tools: [], secrets: [] }

function toExternal(tool: ToolSchema): HostTool {
  return { ...tool, repeatable: false, external: true }
}

/** Creates things only when a tool is actually called: most requests call none. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Those that the caller may use. */
async function keepOffered(
  { ports }: ProxyLoopDeps,
  { caller, namespace }: ProxyCall,
  { builtin, own }: { builtin: ModelTool[]; own: ModelTool[] },
): Promise<ModelTool[]> {
  const usable = await Promise.all([
    keepUsable(ports, { caller, namespace, tools: builtin, serviceTool: 'builtIn' }),
    keepUsable(ports, { caller, namespace, tools: own }),
  ])
  return usable.flat()
}

/** Forbidden. */
async function requireCalled(
  { ports }: ProxyLoopDeps,
  { caller, namespace }: ProxyCall,
  tool: ModelTool,
): Promise<void> {
  const serviceTool = builtinTools.includes(tool) ? ({ serviceTool: 'builtIn' } as const) : {}
  await requireUsable(ports, { caller, namespace, tool: tool.owner ?? tool.name, ...serviceTool })
}

function makeContext(
  deps: ProxyLoopDeps,
  call: ProxyCall,
  { workspaceRoot, links }: Pick<ToolContext, 'workspaceRoot' | 'links'>,
): ToolContext {
  const { ports, settings, loop } = deps
  return {
    workspaceRoot,
    sharesWorkspace: true,
    sandbox: ports.sandbox,
    caller: accountOf(call.caller),
    egress: ports.egress,
    egressPolicy: { allowNetworks: [...settings.allowNetworks], deny: [...settings.ownAddresses()] },
    search: loop.search,
    propagation: propagateOf(deps, call),
    trace: { uid: call.traceUid, attempt: 1 },
    links,
  }
}

/** Runs calls of the service's tools. Their folder survives between calls, and is leased while one runs. */
function createToolCaller(
  deps: ProxyLoopDeps,
  call: ProxyCall,
  { server, session, links }: { server: ModelTool[]; session: string; links: Links },
): ToolHost['call'] {
  const isBuiltin = (tool: ModelTool) => builtinTools.includes(tool)
  const builtin = server.filter(isBuiltin).map(({ name }) => name)
  const custom = server.filter((tool) => !isBuiltin(tool))
  const runIn = async (lease: ScratchLease, ...[toolCall, signal]: Parameters<ToolHost['call']>) => {
    const host = createToolHost({
      builtin,
      custom,
      context: makeContext(deps, call, { workspaceRoot: lease.folder, links }),
    })
    try {
      const result = await host.call(toolCall, AbortSignal.any([signal, lease.full]))
      return lease.full.aborted ? describeToolFailure(lease.full.reason) : result
    } finally {
      await lease.release()
    }
  }
  return async (toolCall, signal) => {
    const called = server.find(({ name }) => name === toolCall.name)
    try {
      if (called !== undefined) await requireCalled(deps, call, called)
      // Names may be reused, or assigned by two authorities; accounts may not.
      return await runIn(
        await deps.ports.scratch.lease(accountOf(call.caller), [call.namespace, session]),
        toolCall,
        signal,
      )
    } catch (error) {
      return describeToolFailure(error)
    }
  }
}

export function createToolOpener(deps: ProxyLoopDeps): ToolOpener {
  const { ports, builtinTools: shownTools } = deps
  const caches = createLookupCaches(ports, { kinds: ['Tool'] })
  const cache = createCustomToolCache(ports, caches)
  let builtin: { at: number; tools: ModelTool[] } | undefined

  /**
   * Checked again after a second, because a sandbox can be installed while the service runs. Hidden tools are left out.
   */
  async function listBuiltin(): Promise<ModelTool[]> {
    const now = ports.clock.now().getTime()
    if (builtin === undefined || now - builtin.at > builtinMs) {
      const names = new Set((await shownTools.list()).map(({ name }) => name))
      builtin = { at: now, tools: builtinTools.filter(({ name }) => names.has(name)) }
    }
    return builtin.tools
  }

  /** A built-in tool takes precedence over a resource of the same name. */
  async function listServerTools(call: ProxyCall): Promise<ServerTools> {
    if (!call.serverTools) return { tools: [], custom: none }
    const custom = await cache.get(call.namespace)
    const own = custom.tools.filter(({ name }) => !shownTools.names.includes(name))
    return { tools: await keepOffered(deps, call, { builtin: await listBuiltin(), own }), custom }
  }

  async function open(call: ProxyCall, own: ToolSchema[], session: string): Promise<LoopTools> {
    const { tools, custom } = await listServerTools(call)
    const ownNames = new Set(own.map(({ name }) => name))
    // The caller's tool takes precedence (PROXY-012).
    const server = tools.filter(({ name }) => !ownNames.has(name))
    const list = [...own.map(toExternal), ...server.map(showTool)]
    const links = createLinks()
    const redactor = once(() => createRedactor([...custom.secrets, ...keysOf(call)], 'tokens'))
    return {
      host: { list: () => list, call: createToolCaller(deps, call, { server, session, links }) },
      redact: (text) => redactor()(text),
      isExternal: (name) => ownNames.has(name),
      added: server.map(({ name }) => name),
      close: links.close,
    }
  }

  return {
    open,
    hasTools: async (namespace) => (await listBuiltin()).length > 0 || (await cache.get(namespace)).tools.length > 0,
    close: caches.close,
  }
}

/** Problems with the folder are reported to the model, like any other failure of a tool. */
function describeToolFailure(error: unknown) {
  return { content: JSON.stringify(explainToolError(error)), isError: true }
}

function keysOf({ models }: ProxyCall): string[] {
  return models.flatMap(({ provider }) => provider.apiKey ?? [])
}
