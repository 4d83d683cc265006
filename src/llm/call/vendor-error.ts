// The meaning of a vendor's error: one table for both families and the many compatible servers.
import type { unknownKinds } from '../../contract/api/tasks/internal.ts'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { ModelError } from '../messages/messages.ts'

/** The called provider, for messages. */
export type CallTarget = { provider: string; model: string; host: string; hasKey: boolean }

export type VendorError = {
  status?: number
  type?: string
  code?: string
  message: string
  retryAfterMs?: number
  /** What it means, where that is known without reading its words. */
  reason?: CallFailure
}

export type UnknownKind = (typeof unknownKinds)[number]

/** Told of a word of a vendor that is not known, and of what it is. */
export type OnUnknown = (kind: UnknownKind, word: string) => void

const byType: Partial<Record<string, CallFailure>> = {
  authentication_error: 'CredentialRefused',
  permission_error: 'CredentialRefused',
  billing_error: 'CreditUsedUp',
  rate_limit_error: 'RateLimited',
  overloaded_error: 'ProviderOverloaded',
  request_too_large: 'RequestTooLarge',
  api_error: 'ProviderFailed',
  server_error: 'ProviderFailed',
  timeout_error: 'ProviderFailed',
  invalid_api_key: 'CredentialRefused',
  unsupported_country_region_territory: 'CredentialRefused',
  insufficient_quota: 'RateLimited',
  rate_limit_exceeded: 'RateLimited',
  context_length_exceeded: 'ContextTooLong',
  model_not_found: 'ModelNotFound',
  model_permission_blocked_org: 'ModelNotFound',
  model_permission_blocked_project: 'ModelNotFound',
  DeploymentNotFound: 'ModelNotFound',
}

const byStatus: Partial<Record<number, CallFailure>> = {
  401: 'CredentialRefused',
  402: 'CreditUsedUp',
  403: 'CredentialRefused',
  408: 'ProviderFailed',
  413: 'RequestTooLarge',
  429: 'RateLimited',
  503: 'ProviderOverloaded',
  529: 'ProviderOverloaded',
}

const tooLong =
  /(prompt|input|request|conversation|messages?) (is|are) too long|context[ _-]?(length|window|size|limit)|maximum context|(too many|exceeds?|maximum).{0,40}\btokens|\btokens.{0,40}(exceed|too (many|long)|maximum)/i
/** A limit on the output that is too high does not mean that the input is too long. */
const outputCap = /max_(completion_)?tokens|output tokens/i
const noModel =
  /model.{0,120}((is|was) not (supported|available|allowed|served)|not (be )?found|not exist|n't exist|unknown|no access|not have access)|(unknown|invalid|no such|unsupported) model|no endpoints found|DeploymentNotFound|^model: \S+$/is
/** What the request itself names by an id, such as an earlier response or a file. */
const noSuchItem =
  /\bwith id\b|\bno such \w+ object\b|\b(resp|msg|rs|fc|file|conv|pmpt|cntr|skill|vs)[-_][a-z0-9]{4,}.{0,200}\bnot (be )?(found|exist)/is

const noCredit =
  /(insufficient|not enough|no|n't have any|not have any|out of|used all available) (account )?(balance|credits?|funds)|(balance|credits?) (is|are) (insufficient|exhausted)/i

/** A longer pause is a mistake: nobody plans with it. */
const maxPauseMs = 86_400_000

/** A quota does not recover during retries. */
const quotaPauseMs = 600_000

function readText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The fields in which servers put an error, and its words. */
const holders = ['error', 'errors', 'base_resp', 'detail', 'details', 'fault'] as const
const wordFields = [
  ...['message', 'msg', 'status_msg', 'error_msg', 'error_message', 'errorMessage', 'error_description', 'Message'],
  ...['detail', 'title', 'reason'],
] as const
const codeFields = ['code', 'status_code', 'error_code', 'errorCode', 'Code'] as const

function firstText(json: JsonObject, fields: readonly string[]): string | undefined {
  for (const field of fields) {
    const text = readText(json[field])
    if (text !== undefined) return text
  }
  return undefined
}

/** `body.messages.2.name: Extra inputs are not permitted`, as validators write it. */
function locate(json: JsonObject): string {
  return Array.isArray(json.loc) ? `${json.loc.join('.')}: ` : ''
}

type FoundError = Omit<VendorError, 'status'>

function readErrorIn(value: unknown, depth = 0): FoundError | undefined {
  if (depth > 4) return undefined
  const text = readText(value)
  if (text !== undefined) return depth === 0 ? undefined : { message: text }
  if (Array.isArray(value)) return joinFound(value.map((item) => readErrorIn(item, depth + 1)))
  // What has a "@type" (google.rpc.Status) is for programs; the words stand beside it.
  return isJsonObject(value) && value['@type'] === undefined ? readErrorObject(value, depth) : undefined
}

function readErrorObject(value: JsonObject, depth: number): FoundError | undefined {
  const inner = holders.map((holder) => readErrorIn(value[holder], depth + 1)).find((found) => found !== undefined)
  const words = firstText(value, wordFields)
  const message = inner?.message ?? (words === undefined ? undefined : locate(value) + words)
  if (message === undefined) return undefined
  const type = inner?.type ?? readText(value.type)
  const code = inner?.code ?? firstText(value, codeFields)
  const behind = readBehind(value.metadata)
  return { message: behind === undefined ? message : `${message}: ${behind}`, type, code }
}

/** The words of the vendor behind a gateway, which itself says only that there was an error (OpenRouter). */
function readBehind(metadata: unknown): string | undefined {
  if (!isJsonObject(metadata)) return undefined
  const { raw, provider_name: name } = metadata
  const json = typeof raw === 'string' ? parseForeignJson(raw) : raw
  const words = readErrorIn(json)?.message ?? (readText(raw) && summarizeBody(String(raw)))
  return words === undefined ? undefined : [readText(name), words].filter((part) => part !== undefined).join(': ')
}

/** Validators report several at once. */
function joinFound(all: (FoundError | undefined)[]): FoundError | undefined {
  const found = all.filter((one) => one !== undefined)
  const [first] = found
  return (
    first && {
      ...first,
      message: found
        .slice(0, 5)
        .map(({ message }) => message)
        .join('; '),
    }
  )
}

/**
 * Finds type, code and message in an error of any server: `{error:{...}}`, `{error:"..."}`, `{message}`, `{msg}`,
 * `{base_resp:{status_msg}}`, `{detail:[...]}`, `{errors:[...]}`, and lists of these.
 */
export function readVendorError(body: unknown): FoundError | undefined {
  return readErrorIn(body)
}

function isTooLong(message: string): boolean {
  return tooLong.test(message) && (!outputCap.test(message) || /context|prompt|input/i.test(message))
}

const requestStatuses = [400, 403, 404, 413, 422]

/** What the message alone says, when the vendor's type and status are too general. */
function reasonOfWords({ status, message }: VendorError): CallFailure | undefined {
  if (status !== undefined && !requestStatuses.includes(status)) return undefined
  if (isTooLong(message)) return 'ContextTooLong'
  if (noCredit.test(message)) return 'CreditUsedUp'
  const isModel = noModel.test(message) || (status === 404 && /\bmodel\b/i.test(message))
  return isModel ? 'ModelNotFound' : undefined
}

/** Servers that answer 200 say what happened in their own code. */
function statusOf({ status, code }: VendorError): number | undefined {
  const own = Number(code)
  return status ?? (Number.isInteger(own) && own >= 400 && own < 600 ? own : undefined)
}

function findReason(error: VendorError): CallFailure {
  if (error.reason !== undefined) return error.reason
  const named = byType[error.code ?? ''] ?? byType[error.type ?? '']
  if (named === 'ContextTooLong') return named
  // "It failed" says less than a status with a meaning of its own.
  const known = named === 'ProviderFailed' && error.status !== undefined ? undefined : named
  return reasonOfWords(error) ?? known ?? (isWrongAddress(error) ? 'WrongAddress' : reasonOfStatus(statusOf(error)))
}

/** The vendor has no such endpoint: neither the model nor anything else that the request names is what is missing. */
function isWrongAddress({ status, message }: VendorError): boolean {
  return status === 405 || (status === 404 && !noSuchItem.test(message))
}

function reasonOfStatus(status: number | undefined): CallFailure {
  if (status === undefined) return 'ProviderFailed'
  // A status that is not an error (a redirect, 304) says nothing about the request either.
  return byStatus[status] ?? (status >= 400 && status < 500 ? 'RequestRefused' : 'ProviderFailed')
}

/** Whether the key itself was refused: a 403 is as often about a region, a network or what an organisation allows. */
function isOfKey({ status, type, code }: Partial<VendorError>): boolean {
  return status === 401 || [type, code].some((word) => word === 'authentication_error' || word === 'invalid_api_key')
}

const servedHere = 'whether the vendor serves this region and network'

function explainMissingKey({ provider }: CallTarget, { status }: Partial<VendorError>): string {
  const advice = `${provider} has no API key; set spec.secretRef of the Provider to a Secret that holds it`
  return status === 403 ? `${advice}, or check ${servedHere}` : advice
}

function explainWrongAddress({ provider, host }: CallTarget, { status }: Partial<VendorError>): string {
  // Some vendors answer so about what they have, but not for everybody.
  const others = status === 404 ? ' and whether the vendor serves this to the key and in this region' : ''
  return `${provider} does not serve this at ${host}; check spec.baseURL${others}, or use a provider that does`
}

const openings: Record<CallFailure, (target: CallTarget, detail: Partial<VendorError>) => string> = {
  CredentialRefused: ({ provider }, detail) =>
    isOfKey(detail)
      ? `${provider} refused the API key; check the key and what it may do`
      : `${provider} refused access; check the key, what it may use, and ${servedHere}`,
  MissingApiKey: explainMissingKey,
  CreditUsedUp: ({ provider }) => `${provider} answers no more until its account is paid`,
  RateLimited: ({ provider }) => `${provider} says that too much was asked of it`,
  ProviderOverloaded: ({ provider }) => `${provider} is overloaded`,
  ContextTooLong: ({ model }) => `The conversation is too long for the model "${model}"`,
  MissingModel: ({ provider }) =>
    `${provider} has no spec.defaultModel and no model is named; name one, or set one there`,
  ModelNotFound: ({ provider, model }) =>
    `${provider} refused the model "${model}"; name one that this key may use in this region`,
  RequestRefused: ({ provider }) => `${provider} refused the request`,
  RequestUnsupported: ({ provider }) => `The request cannot be put into the language of ${provider}`,
  RequestTooLarge: ({ provider }) => `The request is too large for ${provider}`,
  ProviderUnreachable: ({ provider, host }) =>
    `${provider} is unreachable at ${host}; check its address and the network`,
  WrongAddress: explainWrongAddress,
  AddressRefused: ({ provider }) => `${provider} may not be asked at its address`,
  AnswerBrokenOff: ({ provider }) => `${provider} broke off its answer`,
  AnswerTooLong: ({ provider }) =>
    `${provider} sent more than an answer may hold; limit it (max_tokens), or ask for less at once`,
  ProviderFailed: ({ provider }) => `${provider} failed`,
  BudgetExceeded: () => 'A budget is used up',
  ServiceUnavailable: () => 'The service could not do its part of the call',
  Internal: () => 'Something went wrong inside the service',
  Stopped: () => 'The call was cancelled',
}

/** A vendor's words stand in logs, conditions and on terminals: they drive none of them. */
function makePlain(words: string): string {
  return words.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]+/gu, ' ').slice(0, 2000)
}

/** One sentence for a user: what is wrong, what to do, and the vendor's own words (PROV-013). */
export function makeModelError(reason: CallFailure, target: CallTarget, detail: Partial<VendorError> = {}): ModelError {
  const opening = openings[reason]({ ...target, provider: `Provider ${target.provider}` }, detail)
  const status = detail.status === undefined ? '' : ` (HTTP ${detail.status})`
  const words = detail.message === undefined ? '.' : `: ${makePlain(detail.message)}`
  return {
    reason,
    message: `${opening}${status}${words}`,
    status: detail.status,
    retryAfterMs: detail.retryAfterMs,
  }
}

/** Redirects are not followed, because the key is meant for this address alone. */
function explainRedirect(location: string, from: string): string {
  const to = URL.parse(location, from)?.origin ?? 'another address'
  return `it redirects to ${to}, and model calls follow no redirect; set spec.baseURL to the final address`
}

/** Classifies a vendor's error, from an HTTP answer or inside a stream. */
export function classifyVendorError(error: VendorError, target: CallTarget): ModelError {
  const reason = findReason(error)
  if (reason === 'CredentialRefused' && !target.hasKey) return makeModelError('MissingApiKey', target, error)
  const isQuota = error.code === 'insufficient_quota' || error.type === 'insufficient_quota'
  const detail = isQuota ? { retryAfterMs: quotaPauseMs, ...error } : error
  return makeModelError(reason, target, detail)
}

export type VendorRefusal = { status: number; headers: Pick<Headers, 'get'>; text: string; url: string; now: Date }

function explainAddress({ status, headers, text, url }: VendorRefusal, found: unknown): string | undefined {
  const location = headers.get('location')
  if (status >= 300 && status < 400 && location !== null) return explainRedirect(location, url)
  return found === undefined && status === 404 ? `no such API answers at ${url}: ${summarizeBody(text)}` : undefined
}

/** Of a page for people, as gateways send them, its title. */
export function summarizeBody(text: string): string {
  const words = text.trim().slice(0, 65_536)
  if (!/^<(!doctype|html)/i.test(words)) return words.slice(0, 500) || 'no further details'
  const title = /<title[^<>]*>([^<]{1,300})/i.exec(words)?.[1]?.trim()
  return title ? `an HTML page with the title "${title}"` : 'an HTML page'
}

/** The meaning of an unsuccessful answer. `text` is its body. */
export function readVendorRefusal(refusal: VendorRefusal, target: CallTarget): ModelError {
  const { status, headers, text, now } = refusal
  const found = readVendorError(parseForeignJson(text))
  const elsewhere = explainAddress(refusal, found)
  if (elsewhere !== undefined) return makeModelError('WrongAddress', target, { status, message: elsewhere })
  const retryAfterMs = readRetryAfter(headers, now)
  const error: VendorError = { message: summarizeBody(text), ...found, status }
  return classifyVendorError(retryAfterMs === undefined ? error : { ...error, retryAfterMs }, target)
}

/** `retry-after-ms`, or `Retry-After` in seconds or as a date (RFC 9110 section 10.2.3). */
export function readRetryAfter(headers: Pick<Headers, 'get'>, now: Date): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return Math.min(ms, maxPauseMs)
  const text = headers.get('retry-after')?.trim()
  if (text === undefined || text === '') return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.min(seconds * 1000, maxPauseMs)
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now.getTime()), maxPauseMs)
}
