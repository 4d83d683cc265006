// A Tool resource with a plain HTTP endpoint, as a tool of the loop (TOOL-004, TOOL-010..017).

import type { JsonObject } from '../../contract/json.ts'
import { tryParseJson } from '../../contract/json.ts'
import { isSvcError } from '../../errors.ts'
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import type { EgressRequest, EgressResponse } from '../../ports/egress.ts'
import { propagateToken, propagationHeader } from '../../rules/token-propagation.ts'
import { guardRun, type Tool, type ToolContext, type ToolOutcome } from '../tool.ts'
import { explainToolError, failTool, type ToolFailure } from '../tool-error.ts'
import { requestWithin } from '../web/bounded-request.ts'
import { headOfText } from '../workspace/text-window.ts'
import { findArgumentProblems } from './json-schema.ts'

export type HttpToolDefinition = {
  name: string
  description: string
  /** JSON Schema of the arguments; empty: no arguments. */
  parameters: JsonObject
  http: {
    url: string
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
    headers: Record<string, string>
    timeoutMs: number
    auth?: { inject: 'header' | 'body'; bodyKey?: string | undefined; token: string } | undefined
    /** Hosts that the token may be sent to. Absent: any. */
    allowedHosts?: string[] | undefined
  }
}

const largestAnswer = 10 * 1_048_576
/** Limit of the answer as a model receives it (BUILT-028). */
const largestShown = 61_440
const secretHeader = /auth|token|key|secret|cookie|password/i

/** A GET may be repeated when it is unknown whether it ran; nothing else may. */
export function createHttpTool(definition: HttpToolDefinition): Tool {
  const { name, description, http } = definition
  const parameters = { type: 'object', properties: {}, ...definition.parameters }
  const own = secretsOf(definition)
  const redactOwn = createRedactor(own, 'tokens')
  return {
    name,
    description,
    parameters,
    repeatable: http.method === 'GET',
    ownsOutputLimit: true,
    // Its own limit ends it first, so that the message names the endpoint.
    timeoutMs: http.timeoutMs + 5000,
    check: async () => ({ available: true }),
    async invoke(args, context, signal) {
      const problems = findArgumentProblems(parameters, args)
      if (problems.length > 0)
        return failTool('invalid_arguments', `wrong arguments of ${name}: ${problems.join('; ')}`)
      const token = await takeToken(definition, context, signal)
      if (token?.failure !== undefined) return { ...token.failure, error: redactOwn(token.failure.error) }
      const redact = token?.text === undefined ? redactOwn : createRedactor([...own, token.text], 'tokens')
      const call = { args, context, signal, redact, token: token?.text }
      const outcome = await guardRun(() => callEndpoint(definition, call), signal)
      return outcome.success ? outcome : { ...outcome, error: redact(outcome.error) }
    },
  }
}

function secretsOf({ http }: HttpToolDefinition): string[] {
  const headers = Object.entries(http.headers).filter(([name]) => secretHeader.test(name))
  return [...(http.auth ? [http.auth.token] : []), ...headers.map(([, value]) => value)]
}

type TakenToken = { text: string | undefined; failure?: undefined } | { failure: ToolFailure }

/** The transaction's token for this one call, or why there is none: then nothing is sent (reference 3.7). */
async function takeToken(
  { name, http }: HttpToolDefinition,
  { propagation }: ToolContext,
  signal: AbortSignal,
): Promise<TakenToken | undefined> {
  if (propagation === undefined) return undefined
  const checked = propagateToken(http.headers, undefined)
  if (checked.outcome === 'refused') return { failure: failTool('not_configured', `${name}: ${checked.message}`) }
  try {
    return { text: await propagation.takeToken(name, signal) }
  } catch (error) {
    if (signal.aborted) return { failure: failTool('cancelled', 'the call was cancelled before it finished') }
    const { errorType, error: why, suggestion } = explainToolError(error)
    const shown = isSvcError(error) ? why : 'the exchange broke'
    return {
      failure: failTool(errorType, `${name} was not called because it has no transaction token: ${shown}`, suggestion),
    }
  }
}

type Call = {
  args: JsonObject
  context: ToolContext
  signal: AbortSignal
  redact: Redactor
  /** Sent as Txn-Token. */
  token: string | undefined
}

async function callEndpoint(definition: HttpToolDefinition, call: Call): Promise<ToolOutcome> {
  const { http } = definition
  const host = new URL(http.url).host
  const answer = await requestWithin(call.context.egress, buildRequest(definition, call), call.signal)
  if (answer === 'timeout') return failTool('timeout', `${host} did not answer in ${http.timeoutMs / 1000} s`)
  const body = headOfText(call.redact(answer.body.toString('utf8')), largestShown)
  if (answer.status < 200 || answer.status > 299) {
    const shown = headOfText(body.text, 2000).text
    return failTool('upstream_error', `${host} answered ${answer.status}${shown === '' ? '' : `: ${shown}`}`)
  }
  return describeAnswer(answer, body, call.redact)
}

function buildRequest({ http }: HttpToolDefinition, { args, context, token: transaction }: Call): EgressRequest {
  const headers: Record<string, string> = { accept: 'application/json, text/*;q=0.9, */*;q=0.5' }
  for (const [name, value] of Object.entries(http.headers)) headers[name.toLowerCase()] = value
  if (http.auth?.inject === 'header') headers.authorization = `Bearer ${http.auth.token}`
  if (transaction !== undefined) headers[propagationHeader.toLowerCase()] = transaction
  const { allowNetworks, deny } = context.egressPolicy
  const policy = { allowNetworks, deny, allowedHosts: http.allowedHosts }
  const bounds = { maxBytes: largestAnswer, timeoutMs: http.timeoutMs, maxRedirects: 5, policy }
  if (http.method === 'GET') return { url: addQuery(http.url, args), method: 'GET', headers, ...bounds }
  const token = http.auth?.inject === 'body' ? { [http.auth.bodyKey ?? 'token']: http.auth.token } : {}
  headers['content-type'] = 'application/json'
  // The token comes last, so that no argument of the model can replace it.
  return { url: http.url, method: http.method, headers, body: JSON.stringify({ ...args, ...token }), ...bounds }
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
  return {
    success: true,
    status: answer.status,
    content_type: redact(answer.headers['content-type'] ?? ''),
    body: isCut ? body.text : readJson(body.text),
    ...(isCut
      ? { truncated: true, note: `cut: ${total - body.dropped} of ${describeTotal(total, answer)} are shown` }
      : {}),
  }
}

function describeTotal(total: number, answer: EgressResponse): string {
  return `${answer.truncated ? 'more than ' : ''}${total} bytes`
}

/** A model reads JSON inside JSON more easily than JSON in a string. */
function readJson(text: string): unknown {
  const value = tryParseJson(text)
  return value === undefined ? text : value
}
