// What a provider's refusal becomes for the caller: its own words where they are meant for the caller, ours where not.
import { ruleOfCall } from '../../contract/failures.ts'
import { errorStatus, type SvcError } from '../../errors.ts'
import { parseForeignJson } from '../../llm/foreign-json.ts'
import type { ModelError } from '../../llm/messages.ts'
import { explainBreak } from '../../llm/vendor-call.ts'
import { type CallTarget, readRefusal, readVendorError } from '../../llm/vendor-error.ts'
import { explainModelError, retrySecondsOf } from '../../usecases/providers/failure.ts'
import { addressOf, type Target } from '../target.ts'

type HeaderMap = Record<string, string | string[] | undefined>

export type UpstreamRefusal = { status: number; headers: HeaderMap; body: Buffer }

/** Pass on the body as it is (the key cut out of it), or answer with an error of ours. */
export type RefusalAnswer = { status: number; body: Buffer; retryAfterSeconds?: number } | { error: SvcError }

function describe(target: Target): CallTarget {
  const address = addressOf(target.choice.provider)
  return {
    provider: `${target.key.namespace}/${target.key.name}`,
    model: target.model,
    host: URL.parse(address)?.host ?? address,
    hasKey: target.choice.provider.apiKey !== undefined,
  }
}

function redactError(error: ModelError, target: Target): ModelError {
  return { ...error, message: target.redact(error.message) }
}

/** What the vendor's answer means, without the provider's key in it. */
export function explainRefusal({ status, headers, body }: UpstreamRefusal, target: Target, now: Date): ModelError {
  const get = (name: string) => [headers[name]].flat()[0] ?? null
  const url = addressOf(target.choice.provider)
  const refusal = { status, headers: { get }, text: body.toString('utf8'), url, now }
  return redactError(readRefusal(refusal, describe(target)), target)
}

/** What it means that there was no answer, or none to its end. */
export function explainBroken(error: SvcError, target: Target, wasAnswered: boolean): ModelError {
  return redactError(explainBreak(error, describe(target), wasAnswered), target)
}

/** The vendor judged the request, or will be better soon. What is wrong with the provider is for those who look after it. */
function isForCaller({ reason, status = 0 }: ModelError): boolean {
  if (status < 400 || status > 599) return false
  const { blames, again } = ruleOfCall(reason)
  return (blames === 'request' && status !== 403) || again
}

/** What is wrong with a request the vendor says in its own way; for all else there is one status. */
function statusFor({ reason, status }: ModelError): number {
  const isOwn = reason === 'RequestRefused' && status !== undefined
  return isOwn ? status : errorStatus[ruleOfCall(reason).error]
}

/** PROXY-017 to PROXY-021: the provider's credential is not the caller's; all else is for the caller to read. */
export function answerRefusal(error: ModelError, body: Buffer, target: Target): RefusalAnswer {
  const text = body.toString('utf8')
  const isReadable = readVendorError(parseForeignJson(text)) !== undefined
  if (!isReadable || !isForCaller(error)) {
    return { error: explainModelError(error) }
  }
  const redacted = target.redact(text)
  const retryAfterSeconds = retrySecondsOf(error)
  return {
    status: statusFor(error),
    body: redacted === text ? body : Buffer.from(redacted),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}
