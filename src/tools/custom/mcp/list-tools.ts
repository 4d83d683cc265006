// Asks an MCP server for its tools.
import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js'
import type { McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import { FreeForm } from '../../../contract/kinds/resources/references.ts'
import type { OfferedTool } from '../../../contract/kinds/tools/tool-http.ts'
import { SvcError } from '../../../errors.ts'
import { tryParseJson } from '../../../lib/json.ts'
import { createRedactor, type Redactor } from '../../../observability/redaction.ts'
import { explainMcpFailure, type McpConnection, openConnection } from './connection.ts'
import type { Reach } from './guarded-fetch.ts'

const maxMs = 10_000
/** A server that always has another page is not followed for ever. */
const maxPages = 32
const maxTools = 1000
const maxDescriptionLength = 4096

/** Implements `ListMcpTools`. */
export async function listMcpTools(server: McpServer, reach: Reach, signal: AbortSignal): Promise<OfferedTool[]> {
  const { host } = new URL(server.url)
  const redact = createRedactor(listSecrets(server), 'tokens')
  const limitMs = Math.min(maxMs, server.timeoutMs)
  const timer = AbortSignal.timeout(limitMs)
  try {
    return await listAll(server, reach, AbortSignal.any([signal, timer]))
  } catch (error) {
    signal.throwIfAborted()
    if (timer.aborted) {
      throw new SvcError('UpstreamFailed', `${host} did not say within ${limitMs / 1000} s which tools it has`)
    }
    const { reason, message } = explainMcpFailure(error, host)
    throw new SvcError(reason, redact(message))
  }
}

function listSecrets({ token, oauth, headers }: McpServer): string[] {
  return [token, oauth?.clientSecret, ...Object.values(headers)].filter((value) => value !== undefined)
}

async function listAll(server: McpServer, reach: Reach, signal: AbortSignal): Promise<OfferedTool[]> {
  const connection = await openConnection(server, reach, signal)
  try {
    const tools = await readPages(connection, signal)
    const redact = createRedactor([...listSecrets(server), ...connection.secrets()], 'tokens')
    return tools.map((tool) => describeTool(tool, redact))
  } finally {
    void connection.close()
  }
}

async function readPages(connection: McpConnection, signal: AbortSignal): Promise<ServerTool[]> {
  const tools: ServerTool[] = []
  let cursor: string | undefined
  for (let page = 0; page < maxPages && tools.length <= maxTools; page += 1) {
    const { tools: more, nextCursor } = await connection.listTools(cursor, { signal })
    tools.push(...more)
    if (nextCursor === undefined) return tools
    cursor = nextCursor
  }
  throw new Error(`its list of tools has no end; ${tools.length} were read`)
}

function describeTool({ name, description = '', inputSchema, annotations }: ServerTool, redact: Redactor): OfferedTool {
  const { $schema: _, ...plain } = inputSchema
  const parameters = FreeForm.safeParse(tryParseJson(redact(JSON.stringify(plain))))
  if (!parameters.success) throw new Error(`the schema of its tool "${name.slice(0, 64)}" cannot be used`)
  return {
    serverName: name,
    description: redact(description).slice(0, maxDescriptionLength),
    parameters: parameters.data,
    ...(annotations?.readOnlyHint === true ? { readOnly: true } : {}),
  }
}
