// The tools of one request: the caller's own, which end the loop, and the service's, which run here.
import type { ToolSchema } from '../../../llm/messages.ts'
import type { HostTool, ToolHost } from '../../../llm/tool-host.ts'
import { createRedactor, type Redactor } from '../../../observability/redaction.ts'
import { builtinTools, createToolHost } from '../../../tools/registry.ts'
import { createScratchFolders } from '../../../tools/scratch.ts'
import type { Tool, ToolContext } from '../../../tools/tool.ts'
import type { ProxyCall } from '../types.ts'
import { type CustomTools, createCustomToolCache } from './custom-tools.ts'
import type { ProxyLoopDeps } from './deps.ts'

export type LoopTools = { host: ToolHost; redact: Redactor; isExternal(name: string): boolean }

type ServerTools = { tools: Tool[]; custom: CustomTools }

export type ToolOpener = (call: ProxyCall, own: ToolSchema[], session: string) => Promise<LoopTools>

/** How long the list of built-in tools is good for. */
const builtinMs = 1000

const none: CustomTools = { tools: [], secrets: [] }

function toExternal(tool: ToolSchema): HostTool {
  return { ...tool, repeatable: false, external: true }
}

function toHosted({ check: _check, invoke: _invoke, ...shown }: Tool): HostTool {
  return shown
}

/** Makes things only when a tool is really called: most requests call none. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

export function createToolOpener(deps: ProxyLoopDeps): ToolOpener {
  const { ports, settings, builtinTools: shownTools, loop } = deps
  const cache = createCustomToolCache(ports)
  let builtin: { at: number; tools: Tool[] } | undefined
  const scratch = createScratchFolders({ root: loop.scratchDir, clock: ports.clock })

  async function openContext({ caller, namespace }: ProxyCall, session: string): Promise<ToolContext> {
    return {
      workspaceRoot: await scratch.open([namespace, caller.username, session]),
      sharesWorkspace: true,
      sandbox: ports.sandbox,
      egress: ports.egress,
      egressPolicy: { allowNetworks: [...settings.allowNetworks], deny: [...settings.ownAddresses()] },
      search: loop.search,
    }
  }

  /** Asked again after a second: a sandbox may be installed while the service runs. Hidden ones are left out. */
  async function listBuiltin(): Promise<Tool[]> {
    const now = ports.clock.now().getTime()
    if (builtin === undefined || now - builtin.at > builtinMs) {
      const names = new Set((await shownTools.list()).map(({ name }) => name))
      builtin = { at: now, tools: builtinTools.filter(({ name }) => names.has(name)) }
    }
    return builtin.tools
  }

  /** A built-in tool wins over a resource of its name. */
  async function listServerTools({ namespace, serverTools }: ProxyCall): Promise<ServerTools> {
    if (!serverTools) return { tools: [], custom: none }
    const custom = await cache.get(namespace)
    return {
      tools: [...(await listBuiltin()), ...custom.tools.filter(({ name }) => !shownTools.names.includes(name))],
      custom,
    }
  }

  return async (call, own, session) => {
    const { tools, custom } = await listServerTools(call)
    const ownNames = new Set(own.map(({ name }) => name))
    // The caller's tool wins (PROXY-012).
    const server = tools.filter(({ name }) => !ownNames.has(name))
    const list = [...own.map(toExternal), ...server.map(toHosted)]
    const open = once(async () => {
      const context = await openContext(call, session)
      const isBuiltin = (tool: Tool) => builtinTools.includes(tool)
      const builtin = server.filter(isBuiltin).map(({ name }) => name)
      return createToolHost({ builtin, custom: server.filter((tool) => !isBuiltin(tool)), context })
    })
    const redactor = once(() => createRedactor([...custom.secrets, ...keysOf(call)], 'tokens'))
    return {
      host: { list: () => list, call: async (toolCall, signal) => (await open()).call(toolCall, signal) },
      redact: (text) => redactor()(text),
      isExternal: (name) => ownNames.has(name),
    }
  }
}

function keysOf({ models }: ProxyCall): string[] {
  return models.flatMap(({ provider }) => provider.apiKey ?? [])
}
