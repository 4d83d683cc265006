// A Tool resource that stands for an MCP server, as tools of the loop. Of a result a model is shown text and data; pictures and
// sounds are named only.
import { type AssignedMcpTool, listToolSecrets, type McpServer } from '../../../contract/api/tools/assigned-tool.ts'
import type { ListedTool } from '../../../contract/kinds/tools/tool-http.ts'
import { parseForeignJson } from '../../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { headOfText } from '../../../lib/utf8.ts'
import { createRedactor, type Redactor } from '../../../observability/redaction.ts'
import type { ModelTool, OutwardContext, ToolOutcome } from '../../registry/tool.ts'
import { failTool } from '../../registry/tool-error.ts'
import { type CustomCall, createInvoke, maxShownBytes } from '../custom-call.ts'
import { answerFault, createMcpLink, explainMcpFailure, type McpLink } from './connection.ts'
import { callToken } from './guarded-fetch.ts'

/** One for each of the server's tools; for a server whose tools are not known one that says so. */
export function createMcpTools(assigned: AssignedMcpTool): ModelTool<OutwardContext>[] {
  if (assigned.tools.length === 0) return [createPlaceholder(assigned)]
  return assigned.tools.map((listed) => createMcpTool(assigned, listed))
}

function createPlaceholder({ name, description, parameters, outage }: AssignedMcpTool): ModelTool<OutwardContext> {
  const reason = outage?.message ?? 'its server offers no tools'
  return {
    name,
    description,
    parameters,
    repeatable: true,
    ownsOutputLimit: false,
    check: async () => ({ available: true }),
    invoke: async () => failTool('unavailable', `${name} cannot be called: ${reason}`),
  }
}

function createMcpTool(assigned: AssignedMcpTool, listed: ListedTool): ModelTool<OutwardContext> {
  const { name, description, readOnly = false } = listed
  const { mcp: server } = assigned
  const parameters = { ...listed.parameters, type: 'object', properties: listed.parameters.properties ?? {} }
  const called = {
    name,
    owner: assigned.name,
    parameters,
    headers: server.headers,
    secrets: listToolSecrets(assigned),
  }
  return {
    name,
    owner: assigned.name,
    description,
    parameters,
    repeatable: readOnly,
    ownsOutputLimit: true,
    // Its own limit ends it first, so that the message names the server.
    timeoutMs: server.timeoutMs + 5000,
    check: async () => ({ available: true }),
    invoke: createInvoke(called, (call) => callServer(assigned, listed, call)),
  }
}

/** With the run's link to the server, or one of its own. */
async function withLink<T>(server: McpServer, context: OutwardContext, use: (link: McpLink) => Promise<T>): Promise<T> {
  const make = () => createMcpLink(server, context)
  if (context.links !== undefined) return use(context.links.get(server, make))
  const link = make()
  try {
    return await use(link)
  } finally {
    void link.close()
  }
}

async function callServer(assigned: AssignedMcpTool, listed: ListedTool, call: CustomCall): Promise<ToolOutcome> {
  const { mcp: server } = assigned
  const address = `${listed.serverName} of ${new URL(server.url).host}`
  const timer = AbortSignal.timeout(server.timeoutMs)
  const options = {
    signal: AbortSignal.any([call.signal, timer]),
    traceparent: call.traceparent,
    onProgress: reportProgress(listed.name, call),
  }
  const request = { name: listed.serverName, args: call.args }
  try {
    const answer = await withLink(server, call.context, (link) =>
      callToken.run(call.token, () => link.call(request, options)),
    )
    const redactToken = createRedactor(answer.secrets, 'tokens')
    return describeResult(answer.result, (text) => redactToken(call.redact(text)))
  } catch (error) {
    call.signal.throwIfAborted()
    if (timer.aborted) return failTool('timeout', `${address} did not answer in ${server.timeoutMs / 1000} s`)
    throw explainMcpFailure(error, address)
  }
}

/** The most that a server's word on its progress is shown of. */
const maxProgressLength = 200

function reportProgress(name: string, { context: { onProgress }, redact }: CustomCall) {
  if (onProgress === undefined) return undefined
  return (progress: { progress: number; total?: number | undefined; message?: string | undefined }) => {
    const part = progress.total === undefined ? `${progress.progress}` : `${progress.progress} of ${progress.total}`
    const message = progress.message === undefined ? '' : `: ${progress.message.replace(/\s+/g, ' ')}`
    onProgress(redact(`${name}: ${part}${message}`).slice(0, maxProgressLength))
  }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)

/** What cannot be shown is named: another part of the content may be all that a model needs. */
function describeContent(content: unknown): string {
  const { type, text, mimeType, uri, title, name, resource }: JsonObject = isJsonObject(content) ? content : {}
  switch (type) {
    case 'text':
      return textOf(text) ?? JSON.stringify(text ?? '')
    case 'image':
    case 'audio':
      return `[${type} of type ${textOf(mimeType) ?? 'unknown'}, which cannot be shown]`
    case 'resource_link':
      return `[${textOf(uri) ?? 'no address'}] ${textOf(title) ?? textOf(name) ?? ''}`.trim()
    case 'resource':
      return describeResource(isJsonObject(resource) ? resource : {})
    default:
      return `[content of type ${(textOf(type) ?? 'unknown').slice(0, 64)}, which cannot be shown]`
  }
}

function describeResource({ text, uri }: JsonObject): string {
  return textOf(text) ?? `[${textOf(uri) ?? 'a resource'}, which cannot be shown]`
}

/** Where there is structured content, servers repeat it as text (specification 2025-06-18, "Structured Content"). */
function readText({ content = [], structuredContent, toolResult }: JsonObject): string {
  // A server of the first revision (2024-10-07) answers with `toolResult`.
  const data = structuredContent ?? toolResult
  if (data !== undefined && data !== null) return JSON.stringify(data)
  if (content !== null && !Array.isArray(content)) throw answerFault('content: must be a list')
  return (content ?? []).map(describeContent).join('\n')
}

function describeResult(result: JsonObject, redact: Redactor): ToolOutcome {
  const { text, dropped } = headOfText(redact(readText(result)), maxShownBytes)
  if (result.isError === true) return failTool('upstream_error', headOfText(text, 4000).text || 'the tool failed')
  if (dropped === 0) return { success: true, result: readJson(text) }
  const shown = Buffer.byteLength(text)
  return { success: true, result: text, truncated: true, note: `cut: ${shown} of ${shown + dropped} bytes are shown` }
}

/** A model reads JSON inside JSON more easily than JSON in a string. */
function readJson(text: string): unknown {
  const value = parseForeignJson(text)
  return typeof value === 'object' && value !== null ? value : text
}
