// A Tool resource with a plain HTTP endpoint, as a tool of the loop (TOOL-004, TOOL-010..017).
import { type AssignedHttpTool, listToolSecrets } from '../../contract/api/tools/assigned-tool.ts'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { canBeFilled, fillPlaceholders, listPlaceholders } from '../../contract/values/client-headers.ts'
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { headOfText } from '../../lib/utf8.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { EgressRequest, EgressResponse } from '../../ports/service/egress.ts'
import { propagationHeader } from '../../rules/identity/token-propagation.ts'
import type { ModelTool, OutwardContext, ToolOutcome } from '../registry/tool.ts'
import { failTool } from '../registry/tool-error.ts'
import { requestWithin } from '../web/bounded-request.ts'
import { type CustomCall, createInvoke, maxAnswerBytes, maxShownBytes } from './custom-call.ts'

/** A GET may be repeated when it is unknown whether it ran; nothing else may. */
export function createHttpTool(definition: AssignedHttpTool): ModelTool<OutwardContext> {
  const { name, description, http } = definition
  const parameters = { type: 'object', properties: {}, ...requirePlaceholders(definition) }
  const called = { name, owner: name, parameters, headers: http.headers, secrets: listToolSecrets(definition) }
  return {
    name,
    description,
    parameters,
    repeatable: http.method === 'GET',
    ownsOutputLimit: true,
    // Its own limit ends it first, so that the message names the endpoint.
    timeoutMs: http.timeoutMs + 5000,
    check: async () => ({ available: true }),
    invoke: createInvoke(called, (call) => callEndpoint(definition, call)),
  }
}

/** No call can do without an argument that stands in the address. */
function requirePlaceholders({ parameters, http }: AssignedHttpTool): JsonObject {
  const placeholders = listPlaceholders(http.url)
  const required = Array.isArray(parameters.required) ? parameters.required : []
  return placeholders.length === 0
    ? parameters
    : { ...parameters, required: [...new Set([...required, ...placeholders])] }
}

async function callEndpoint(definition: AssignedHttpTool, call: CustomCall): Promise<ToolOutcome> {
  const { http } = definition
  const host = new URL(http.url).host
  const answer = await requestWithin(call.context.egress, buildRequest(definition, call), call.signal)
  if (answer === 'timeout') return failTool('timeout', `${host} did not answer in ${http.timeoutMs / 1000} s`)
  const body = headOfText(call.redact(answer.body.toString('utf8')), maxShownBytes)
  if (answer.status < 200 || answer.status > 299) {
    const shown = headOfText(body.text, 2000).text
    return failTool('upstream_error', `${host} answered ${answer.status}${shown === '' ? '' : `: ${shown}`}`)
  }
  return describeAnswer(answer, body, call.redact)
}

function buildRequest({ http }: AssignedHttpTool, call: CustomCall): EgressRequest {
  const { args, context, token: transaction, traceparent } = call
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  if (traceparent !== undefined) headers.traceparent = traceparent
  for (const [name, value] of Object.entries(http.headers)) headers[name.toLowerCase()] = value
  if (http.auth?.inject === 'header') headers.authorization = `Bearer ${http.auth.token}`
  if (transaction !== undefined) headers[propagationHeader.toLowerCase()] = transaction
  const { allowNetworks, deny } = context.egressPolicy
  const policy = { allowNetworks, deny, allowedHosts: http.allowedHosts }
  const bounds = { maxBytes: maxAnswerBytes, timeoutMs: http.timeoutMs, maxRedirects: 5, policy }
  const { url, rest } = fillAddress(http.url, args)
  if (http.method === 'GET') return { url: addQuery(url, rest), method: 'GET', headers, ...bounds }
  const token = http.auth?.inject === 'body' ? { [http.auth.bodyKey ?? 'token']: http.auth.token } : {}
  headers['content-type'] ??= 'application/json'
  // The token comes last, so that no argument of the model can replace it.
  return { url, method: http.method, headers, body: JSON.stringify({ ...rest, ...token }), ...bounds }
}

/** Lists repeat their name; objects are sent as JSON. */
function addQuery(base: string, args: JsonObject): string {
  const url = new URL(base)
  for (const [name, value] of Object.entries(args)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      url.searchParams.append(name, typeof item === 'string' ? item : JSON.stringify(item))
    }
  }
  return url.href
}

function describeAnswer(
  answer: EgressResponse,
  body: { text: string; dropped: number },
  redact: Redactor,
): ToolOutcome {
  const total = Buffer.byteLength(body.text) + body.dropped
  const isCut = body.dropped > 0 || answer.truncated
  // A model reads JSON inside JSON more easily than JSON in a text.
  return {
    success: true,
    status: answer.status,
    content_type: redact(answer.headers['content-type'] ?? ''),
    body: isCut ? body.text : (parseForeignJson(body.text) ?? body.text),
    ...(isCut
      ? { truncated: true, note: `cut: ${total - body.dropped} of ${describeTotal(total, answer)} are shown` }
      : {}),
  }
}

function describeTotal(total: number, answer: EgressResponse): string {
  return `${answer.truncated ? 'more than ' : ''}${total} bytes`
}

/** What becomes a step up, the folder itself or nothing would lead to another address than the author's. */
const noSegment = /^(?:\.|%2e){0,2}$/i

/**
 * The address, and the arguments that do not occur in it. InvalidRequest for an argument that cannot stand where it
 * should, NotConfigured for an address that takes arguments elsewhere than in path and query.
 */
export function fillAddress(address: string, args: JsonObject): { url: string; rest: JsonObject } {
  const placeholders = new Set(listPlaceholders(address))
  if (placeholders.size === 0) return { url: address, rest: args }
  if (!canBeFilled(address)) throw new SvcError('NotConfigured', 'the address of the tool cannot take arguments')
  const [, path = '', further = ''] = /^([^?#]*)(.*)$/s.exec(address) ?? []
  const segments = path.split('/').map((segment) => fillSegment(segment, args))
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !placeholders.has(name)))
  return { url: segments.join('/') + fill(further, args), rest }
}

function fill(text: string, args: JsonObject): string {
  return fillPlaceholders(text, (name) => encode(name, args[name]))
}

function fillSegment(segment: string, args: JsonObject): string {
  const filled = fill(segment, args)
  if (filled === segment || !noSegment.test(filled)) return filled
  const names = listPlaceholders(segment).join(', ')
  throw new SvcError('InvalidRequest', `${names}: cannot be ${JSON.stringify(filled)} in a path`)
}

function encode(name: string, value: unknown): string {
  if (!['string', 'number', 'boolean'].includes(typeof value)) {
    throw new SvcError('InvalidRequest', `${name}: must be a text, a number or a boolean to stand in an address`)
  }
  return encodeURIComponent(String(value).toWellFormed())
}
