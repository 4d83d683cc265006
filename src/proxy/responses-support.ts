// Which requests of the responses API go to their provider as they are: not those that only the service understands, and none to
// a provider that has no such API.
import { BoundedMap } from '../lib/bounded-map.ts'
import type { Clock } from '../lib/clock.ts'
import type { ModelError } from '../llm/messages/messages.ts'
import { sealMark } from '../llm/messages/seal.ts'
import type { LoopPlan, ProxyRequest } from './request.ts'
import { type ProxyTarget, providerAddress } from './target.ts'

/** A provider that gets the API later is found after that time. */
const rememberMs = 3_600_000
const maxServers = 1000

/** Answers of servers that do not know a path. */
const missingStatuses = [404, 405, 501]

/** What a vendor says of an answer, an item or a file that it does not have: the API itself is there. */
const namesThing = /\bid\b|_[0-9a-f]{16,}/i

/** Ids of the service's own answers and their items. */
const ownId = /"(?:resp|msg|rs|fc|ctc|lsh|tsc)_svc_[0-9a-f]/

function namesOwn(body: Buffer): boolean {
  return body.includes(sealMark) || (body.includes('_svc_') && ownId.test(body.toString('latin1')))
}

export type ResponsesSupport = {
  /** Whether the request is one of the responses API that has to be translated, whoever its provider is. */
  isForeign(request: ProxyRequest, target: ProxyTarget): boolean
  /** Whether the provider says that it has no responses API. */
  isMissing(request: ProxyRequest, error: ModelError): boolean
  /** The plan; when it ends well, the provider is remembered as one without the API. */
  remember(target: ProxyTarget, plan: LoopPlan): LoopPlan
}

export function createResponsesSupport(clock: Pick<Clock, 'now'>): ResponsesSupport {
  const missing = new BoundedMap<string, true>({
    max: maxServers,
    age: { maxMs: rememberMs, now: () => clock.now().getTime() },
  })
  const addressOf = ({ choice }: ProxyTarget) => providerAddress(choice.provider)
  return {
    isForeign: ({ endpoint, body }, target) =>
      endpoint === 'responses' && (missing.has(addressOf(target)) || namesOwn(body)),
    isMissing: ({ endpoint }, { status = 0, reason, message }) =>
      endpoint === 'responses' &&
      missingStatuses.includes(status) &&
      reason !== 'ModelNotFound' &&
      !namesThing.test(message),
    remember: (target, plan) => ({
      answer: plan.answer,
      done(outcome) {
        if (outcome === 'ok') missing.set(addressOf(target), true)
        plan.done(outcome)
      },
    }),
  }
}
