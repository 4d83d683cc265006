// What an MCP server offers.
import type { McpServer } from '../../contract/api/tools/assigned-tool.ts'
import type { OfferedTool } from '../../contract/kinds/tools/tool-mcp.ts'

/**
 * Asks the server for its tools, with its credential, which no part of the answer shows. Rejects with SvcError:
 * Forbidden when the address is refused, UpstreamFailed when the server cannot be reached or does not speak the protocol.
 */
export type ListMcpTools = (server: McpServer, signal: AbortSignal) => Promise<OfferedTool[]>
