// Asks an MCP server for its tools. A tool that cannot be used is left out by name, with the reason; the others are there.
import type { McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import { FreeForm } from '../../../contract/kinds/resources/references.ts'
import type { LeftOutTool, OfferedTool } from '../../../contract/kinds/tools/tool-http.ts'
import { SvcError } from '../../../errors.ts'
import { isJsonObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { createRedactor, type Redactor } from '../../../observability/redaction.ts'
import type { OfferedTools } from '../../../ports/tools/tools.ts'
import { answerFault, explainMcpFailure, type McpConnection, openConnection } from './connection.ts'
import type { Reach } from './guarded-fetch.ts'

const maxMs = 10_000
/** A server that always has another page is not followed for ever. */
const maxPages = 32
const maxTools = 1000
const maxNameLength = 256
const maxDescriptionLength = 4096
/** Tools that are left out and named. */
const maxLeftOut = 100

/** Implements `ListMcpTools`. */
export async function listMcpTools(server: McpServer, reach: Reach, signal: AbortSignal): Promise<OfferedTools> {
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

async function listAll(server: McpServer, reach: Reach, signal: AbortSignal): Promise<OfferedTools> {
  const connection = await openConnection(server, reach, signal)
  try {
    const tools = await readPages(connection, signal)
    return sortOut(tools, createRedactor([...listSecrets(server), ...connection.secrets()], 'tokens'))
  } finally {
    void connection.close()
  }
}

/** A cursor that comes again, or is no text, ends the list. */
async function readPages(connection: McpConnection, signal: AbortSignal): Promise<unknown[]> {
  const tools: unknown[] = []
  const seen = new Set<unknown>()
  let cursor: string | undefined
  for (let page = 0; page < maxPages && tools.length <= maxTools; page += 1) {
    const { tools: more, nextCursor } = await connection.listTools(cursor, { signal })
    if (!Array.isArray(more)) throw answerFault('tools: must be a list')
    tools.push(...more)
    if (typeof nextCursor !== 'string' || nextCursor === '' || seen.has(nextCursor)) return tools
    seen.add(nextCursor)
    cursor = nextCursor
  }
  throw new Error(`its list of tools has no end; ${tools.length} were read`)
}

/** Of tools with one name the first counts. */
function sortOut(found: readonly unknown[], redact: Redactor): OfferedTools {
  const tools = new Map<string, OfferedTool>()
  const leftOut: LeftOutTool[] = []
  for (const [at, one] of found.entries()) {
    const tool = readTool(one, redact)
    if ('reason' in tool) leftOut.push({ name: tool.name ?? `tool ${at + 1} of its list`, reason: tool.reason })
    else if (tools.has(tool.serverName))
      leftOut.push({ name: tool.serverName, reason: 'the server offers another of this name' })
    else tools.set(tool.serverName, tool)
  }
  return { tools: [...tools.values()], leftOut: leftOut.slice(0, maxLeftOut) }
}

const textOf = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined)

function readTool(value: unknown, redact: Redactor): OfferedTool | { name?: string; reason: string } {
  const { name: own, title, description, inputSchema, annotations }: JsonObject = isJsonObject(value) ? value : {}
  const name = textOf(own)
  if (name === undefined) return { reason: 'it has no name' }
  if (name.length > maxNameLength)
    return { name: `${name.slice(0, 64)}...`, reason: `its name is longer than ${maxNameLength}` }
  const parameters = readSchema(inputSchema, redact)
  if (typeof parameters === 'string') return { name, reason: parameters }
  const hints = isJsonObject(annotations) ? annotations : {}
  return {
    serverName: name,
    description: redact(textOf(description) ?? textOf(title) ?? textOf(hints.title) ?? '').slice(
      0,
      maxDescriptionLength,
    ),
    parameters,
    ...(hints.readOnlyHint === true ? { readOnly: true } : {}),
  }
}

/** What is wrong with it, as a text. */
function readSchema(schema: unknown, redact: Redactor): JsonObject | string {
  if (!isJsonObject(schema)) return 'its inputSchema is not an object'
  const { $schema: _, ...plain } = schema
  const isObject = plain.type === 'object' || (plain.type === undefined && isJsonObject(plain.properties))
  if (!isObject) return 'its inputSchema must be of type "object"'
  if (plain.properties !== undefined && !isJsonObject(plain.properties))
    return 'the properties of its inputSchema are no object'
  const parameters = FreeForm.safeParse(tryParseJson(redact(JSON.stringify({ ...plain, type: 'object' }))))
  return parameters.success ? parameters.data : 'its inputSchema is too large or too deep'
}
