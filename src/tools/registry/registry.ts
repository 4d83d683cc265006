// The built-in tools, and the host that runs tools for a loop.
import type { JsonObject } from '../../lib/json.ts'
import { webFetch } from '../web/web-fetch.ts'
import { webSearch } from '../web/web-search.ts'
import { codeExec } from '../workspaces/code-exec.ts'
import { fileRead, fileWrite } from '../workspaces/file-tools.ts'
import {
  type AvailabilityContext,
  type ModelTool,
  type ShownTool,
  showTool,
  type ToolContext,
  type ToolOutcome,
} from './tool.ts'
import { failTool } from './tool-error.ts'

/** In the order in which they are listed (BUILT-001). */
export const builtinTools: readonly ModelTool[] = [webSearch, codeExec, fileRead, webFetch, fileWrite]

type BuiltinToolInfo = {
  name: string
  builtin: true
  description: string
  /** JSON Schema. */
  parameters: JsonObject
  available: boolean
  /** Why it is not available, with what to do. */
  reason?: string
}

/** What GET /api/v1/tools shows about the built-in tools (BUILT-015, BUILT-016). */
export async function describeBuiltinTools(
  context: AvailabilityContext,
  options: { hideUnavailable?: boolean } = {},
): Promise<BuiltinToolInfo[]> {
  const all = await Promise.all(builtinTools.map((tool) => describeTool(tool, context)))
  return options.hideUnavailable ? all.filter((tool) => tool.available) : all
}

async function describeTool(tool: ModelTool, context: AvailabilityContext): Promise<BuiltinToolInfo> {
  const { name, description, parameters } = tool
  const state = await tool.check(context)
  const info = { name, builtin: true, description, parameters } as const
  if (state.available) return { ...info, available: true }
  return { ...info, available: false, reason: `${state.reason}; ${state.suggestion}` }
}

type ToolHostOptions = {
  /** Names of the enabled built-in tools; absent: all. Other names are ignored. */
  builtin?: readonly string[]
  custom?: readonly ModelTool[]
  context: ToolContext
}

/** Structurally the ToolHost of the loop. */
type BuiltToolHost = {
  list(): ShownTool[]
  call(
    call: { id: string; name: string; args: JsonObject; step?: string | undefined },
    signal: AbortSignal,
  ): Promise<{ content: string; isError: boolean }>
}

/** A built-in tool takes precedence over a custom one of the same name. */
export function createToolHost(options: ToolHostOptions): BuiltToolHost {
  const enabled = builtinTools.filter((tool) => options.builtin?.includes(tool.name) ?? true)
  return hostTools([...(options.custom ?? []), ...enabled], options.context)
}

/** Of tools with one name the last counts. */
export function hostTools<C>(hosted: readonly ModelTool<C>[], context: C): BuiltToolHost {
  const tools = new Map(hosted.map((tool) => [tool.name, tool]))
  const list = [...tools.values()].map(showTool)
  return {
    list: () => list,
    async call({ name, args, step }, signal) {
      const tool = tools.get(name)
      const outcome = tool
        ? await tool.invoke(args, { ...context, step }, signal)
        : failUnknown(name, [...tools.keys()])
      return { content: JSON.stringify(outcome), isError: !outcome.success }
    },
  }
}

function failUnknown(name: string, known: string[]): ToolOutcome {
  const suggestion =
    known.length > 0 ? `Use one of: ${known.join(', ')}.` : 'No tools can be called here; answer without.'
  return failTool('not_found', `there is no tool "${name}"`, suggestion)
}
