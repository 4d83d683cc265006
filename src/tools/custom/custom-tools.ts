// Tool resources as tools of the loop, whatever they are behind.
import type { AssignedTool } from '../../contract/api/tools/assigned-tool.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ModelTool, OutwardContext } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { createHttpTool } from './http-tool.ts'
import { createMcpTools } from './mcp/mcp-tools.ts'

/** One or several of each; those that are known to be unavailable fail at once. */
export function createCustomTools(assigned: AssignedTool, clock: Pick<Clock, 'now'>): ModelTool<OutwardContext>[] {
  const tools = 'http' in assigned ? [createHttpTool(assigned)] : createMcpTools(assigned)
  const { outage } = assigned
  if (outage === undefined) return tools
  const end = Date.parse(outage.until)
  return tools.map((tool) => ({
    ...tool,
    invoke: async (...call) =>
      clock.now().getTime() < end
        ? failTool('unavailable', `${tool.name} is not available: ${outage.message}`)
        : tool.invoke(...call),
  }))
}
