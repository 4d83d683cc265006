// What a provider's refusal becomes for the caller: its own words where they are meant for the caller, ours where not.
import { type CallFailure, ruleOfCall } from '../../contract/failures.ts'
import { type ErrorReason, SvcError } from '../../errors.ts'
import type { CallTarget } from '../../llm/vendor-error.ts'
import { classifyVendorError, makeModelError, readRetryAfter, readVendorError } from '../../llm/vendor-error.ts'
import { addressOf, type Target } from './target.ts'

type HeaderMap = Record<string, string | string[] | undefined>

export type UpstreamRefusal = { status: number; headers: HeaderMap; body: Buffer }

/** Pass on the body as it is (the key cut out of it), or answer with an error of ours. */
export type RefusalAnswer = { body: Buffer } | { error: SvcError }

/** When a vendor gives no time of its own. */
export const defaultRetrySeconds = 10

function describe(target: Target): CallTarget {
  const address = addressOf(target.choice.provider)
  return {
    provider: `${target.key.namespace}/${target.key.name}`,
    model: target.model,
    host: URL.parse(address)?.host ?? address,
    hasKey: target.choice.provider.apiKey !== undefined,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const reasonByStatus: Record<number, ErrorReason> = {
  400: 'InvalidRequest',
  413: 'TooLarge',
  429: 'TooManyRequests',
  503: 'Unavailable',
  529: 'Overloaded',
}

/** When the vendor says when to come back. */
export function readRetryMs(headers: HeaderMap, now: Date): number | undefined {
  const flat = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  )
  return readRetryAfter(new Headers(flat), now)
}

/** The vendor's words. */
export function readReason(body: Buffer): string {
  const text = body.toString('utf8')
  return readVendorError(parse(text))?.message ?? text.slice(0, 500)
}

/** Whether too much was asked of the provider (429), or of its vendor's machines (503, 529). */
export function isTooMuch(status: number): boolean {
  return status === 429 || status === 529
}

/** What is between the service and the vendor; undefined when the words are the caller's to read. */
function ownError(reason: CallFailure, status: number, message: string): SvcError | undefined {
  if (ruleOfCall(reason).blames === 'provider' && ruleOfCall(reason).error === 'UpstreamFailed' && status < 500)
    return new SvcError('UpstreamFailed', message)
  if (status !== 403) return undefined
  return new SvcError(reason === 'ModelNotFound' ? 'NotFound' : 'UpstreamFailed', message)
}

/** What stands against the provider, in one sentence without its key: for those who look after it. */
export function describeRefusal({ status, body }: Omit<UpstreamRefusal, 'headers'>, target: Target): string {
  const text = body.toString('utf8')
  const words = text.trim().slice(0, 500) || 'no further details'
  const { message } = classifyVendorError({ message: words, ...readVendorError(parse(text)), status }, describe(target))
  return target.redact(message)
}

/** PROXY-017 to PROXY-021: the provider's credential is not the caller's; all else is for the caller to read. */
export function answerRefusal({ status, headers, body }: UpstreamRefusal, target: Target, now: Date): RefusalAnswer {
  const text = body.toString('utf8')
  const found = status >= 400 && status < 600 ? readVendorError(parse(text)) : undefined
  const at = describe(target)
  if (found === undefined) return { error: explainUnreadable({ status, headers, body }, target, now) }
  const { reason, message } = classifyVendorError({ ...found, status }, at)
  const error = ownError(reason, status, target.redact(message))
  if (error !== undefined) return { error }
  const redacted = target.redact(text)
  return { body: redacted === text ? body : Buffer.from(redacted) }
}

/** A body that is no JSON: a proxy in between, or no such API. */
function explainUnreadable({ status, headers, body }: UpstreamRefusal, target: Target, now: Date): SvcError {
  const words = target.redact(body.toString('utf8').trim().slice(0, 500)) || 'no further details'
  const { message } = makeModelError('ProviderFailed', describe(target), { status, message: words })
  const reason = status === 404 ? 'UpstreamFailed' : (reasonByStatus[status] ?? 'UpstreamFailed')
  if (!isTooMuch(status)) return new SvcError(reason, message)
  const retryMs = readRetryMs(headers, now) ?? defaultRetrySeconds * 1000
  return new SvcError(reason, message, { retryAfterSeconds: Math.ceil(retryMs / 1000) })
}
