// How a provider's refusal reaches the caller: in its own words when they are meant for the caller, otherwise in ours.
import { ruleOfCall } from '../../contract/kinds/tasks/failures.ts'
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { type ErrorReason, errorStatus, type SvcError } from '../../errors.ts'
import { explainBreak } from '../../llm/call/vendor-call.ts'
import {
  type CallTarget,
  classifyVendorError,
  readVendorError,
  readVendorRefusal,
  type VendorError,
} from '../../llm/call/vendor-error.ts'
import type { ModelError } from '../../llm/messages/messages.ts'
import { explainModelError, modelRetrySeconds } from '../../usecases/providers/estimated-tokens.ts'
import { type ProxyTarget, providerAddress } from '../target.ts'

type HeaderMap = Record<string, string | string[] | undefined>

/** `path`: what was asked for. */
export type UpstreamRefusal = { status: number; headers: HeaderMap; body: Buffer; path: string }

/** Pass the body on unchanged (with the key removed), or answer with an error of the service. */
export type RefusalAnswer =
  | { status: number; reason: ErrorReason; body: Buffer; retryAfterSeconds?: number }
  | { error: SvcError }

function describe(target: ProxyTarget): CallTarget {
  const address = providerAddress(target.choice.provider)
  return {
    provider: `${target.key.namespace}/${target.key.name}`,
    model: target.model,
    host: URL.parse(address)?.host ?? address,
    hasKey: target.choice.provider.apiKey !== undefined,
  }
}

function redactError(error: ModelError, target: ProxyTarget): ModelError {
  return { ...error, message: target.redact(error.message) }
}

/** What the vendor's answer means; without the provider's key. */
export function explainUpstreamRefusal(
  { status, headers, body, path }: UpstreamRefusal,
  target: ProxyTarget,
  now: Date,
): ModelError {
  const get = (name: string) => [headers[name]].flat()[0] ?? null
  const { origin, pathname } = new URL(path, providerAddress(target.choice.provider))
  const url = `${origin}${pathname}`
  const refusal = { status, headers: { get }, text: body.toString('utf8'), url, now }
  return redactError(readVendorRefusal(refusal, describe(target)), target)
}

/** What an answer means that is none: an error under a status of success, or an end that is not a whole answer. */
export function explainAnswer(error: VendorError, target: ProxyTarget): ModelError {
  return redactError(classifyVendorError(error, describe(target)), target)
}

/** What a missing or incomplete answer means. */
export function explainBroken(error: SvcError, target: ProxyTarget, wasAnswered: boolean): ModelError {
  return redactError(explainBreak(error, describe(target), wasAnswered), target)
}

/** The vendor rejected the request, or asks to retry later. Problems of the provider itself are for its operator. */
function isForCaller({ reason, status = 0 }: ModelError): boolean {
  if (status < 400 || status > 599) return false
  const { blames, again } = ruleOfCall(reason)
  return (blames === 'request' && status !== 403) || again
}

/** Vendors differ in how they reject a request; every other problem has one status. */
function statusFor({ reason, status }: ModelError): number {
  const isOwn = reason === 'RequestRefused' && status !== undefined
  return isOwn ? status : errorStatus[ruleOfCall(reason).error]
}

/** PROXY-017 to PROXY-021: errors about the provider's credential are not the caller's; all others are passed on. */
export function answerRefusal(error: ModelError, body: Buffer, target: ProxyTarget): RefusalAnswer {
  const text = body.toString('utf8')
  const isReadable = readVendorError(parseForeignJson(text)) !== undefined
  if (!isReadable || !isForCaller(error)) {
    return { error: explainModelError(error) }
  }
  const redacted = target.redact(text)
  const retryAfterSeconds = modelRetrySeconds(error)
  return {
    status: statusFor(error),
    reason: ruleOfCall(error.reason).error,
    body: redacted === text ? body : Buffer.from(redacted),
    retryAfterSeconds,
  }
}
