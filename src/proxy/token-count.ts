// Counts the tokens of a message: as its vendor counts them, else by an estimate, which a header marks. Providers of the
// other family and many compatible servers have no such endpoint, which is no fault of theirs.
import { parseForeignObject } from '../contract/schema/foreign-json.ts'
import { SvcError } from '../errors.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { isJsonObject } from '../lib/json.ts'
import type { ModelError } from '../llm/messages/messages.ts'
import { estimateBody } from './relay/passed-answer.ts'
import type { BilledRequest, ProxyPlan } from './request.ts'
import { type ProxyTarget, providerAddress } from './target.ts'
import type { ProxyAnswer } from './types.ts'

/** Tells which counts of an answer are estimates. */
export const estimatedHeader = { 'x-svc-estimated': 'input_tokens' } as const

/** A server may learn to count, and is asked again after this time. */
const rememberMs = 3_600_000
const maxServers = 1000
const absent = [404, 405, 501]

export type TokenCounts = {
  /** The plan of an estimate; undefined where the vendor counts, or nothing is to be counted. InvalidRequest without messages. */
  plan(request: BilledRequest, target: ProxyTarget, done: () => void): ProxyPlan | undefined
  /** The estimate, when a refusal says that the server does not count; it is remembered. */
  answerFor(
    request: BilledRequest,
    target: ProxyTarget,
    error: ModelError,
  ): { headers: string[]; body: Buffer } | undefined
}

function requireMessages({ body }: BilledRequest): void {
  const fields = parseForeignObject(body.toString('utf8'))
  if (fields === undefined) throw new SvcError('InvalidRequest', 'the body is not a JSON object')
  const { messages } = fields
  if (Array.isArray(messages) && messages.length > 0 && messages.every(isJsonObject)) return
  throw new SvcError('InvalidRequest', 'messages: must be a list of at least one message')
}

function estimate({ body }: BilledRequest) {
  return { input_tokens: estimateBody(body) }
}

export function createTokenCounts(now: () => number): TokenCounts {
  const without = new BoundedMap<string, true>({ max: maxServers, age: { maxMs: rememberMs, now } })
  const addressOf = ({ choice }: ProxyTarget) => providerAddress(choice.provider)

  return {
    plan(request, target, done) {
      if (request.endpoint !== 'count_tokens') return undefined
      if (target.family === 'llma' && !without.has(addressOf(target))) return undefined
      requireMessages(request)
      const answer: ProxyAnswer = { status: 200, headers: { ...estimatedHeader }, body: estimate(request) }
      return { answer: async () => answer, done }
    },
    answerFor(request, target, { reason, status = 0 }) {
      if (request.endpoint !== 'count_tokens' || reason === 'ModelNotFound' || !absent.includes(status))
        return undefined
      without.set(addressOf(target), true)
      return { headers: Object.entries(estimatedHeader).flat(), body: Buffer.from(JSON.stringify(estimate(request))) }
    },
  }
}
