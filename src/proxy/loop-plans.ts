// Plans for requests that cannot be passed through: the loop or a translation, with usage per call.
import type { Price } from '../contract/kinds/providers/provider.ts'
import { deepestJson, hasMoreValues, isTooDeep } from '../contract/schema/foreign-json.ts'
import { maxJsonValues } from '../contract/schema/validation.ts'
import { SvcError } from '../errors.ts'
import type { Ids } from '../lib/clock.ts'
import type { JsonObject } from '../lib/json.ts'
import type { ServedCall } from '../llm/call/model-client.ts'
import type { Spending } from '../llm/loop/loop.ts'
import { serverCallMark } from '../llm/loop/server-calls.ts'
import { addUsage, noUsage, type TokenUsage } from '../llm/messages/messages.ts'
import { type Cost, computeCost } from '../llm/messages/token-usage.ts'
import type { BudgetLedger } from '../usecases/budgets/ledger.ts'
import { nameProviderIn } from '../usecases/providers/estimated-tokens.ts'
import type { Slots } from '../usecases/service/slots.ts'
import type { CallerLimits } from './caller-limits.ts'
import type { ProxyLoop } from './loop/run.ts'
import type { RequestFields } from './relay/request-text.ts'
import {
  accountOf,
  type BilledRequest,
  type LoopPlan,
  type ProxyRequest,
  type ProxySample,
  traceCall,
  wantsTools,
} from './request.ts'
import { endpointFamilies, type ProxyTarget } from './target.ts'
import type { ConversationEndpoint, ProxyCall } from './types.ts'
import type { MeteredCall, ProxyUsageMeter } from './usage-meter.ts'

export type LoopPlanDeps = {
  loop: ProxyLoop
  callers: CallerLimits
  slots: Slots
  meter: ProxyUsageMeter
  ledger: Pick<BudgetLedger, 'require'>
  observe(sample: ProxySample): void
  ids: Pick<Ids, 'hex'>
}

export type LoopPlans = {
  plan(request: ConversationRequest, target: ProxyTarget, fields: RequestFields): LoopPlan
  /** Whether the loop would add anything to a request; if not, its bytes can be passed through (PROXY-003). */
  isIdle(request: ProxyRequest): Promise<boolean>
  close(): void
}

const traceUidLength = 32

type ConversationRequest = BilledRequest & { endpoint: ConversationEndpoint }

function headersOf(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < flat.length; at += 2) headers[String(flat[at])] = String(flat[at + 1])
  return headers
}

function parseBody(text: string): JsonObject {
  if (hasMoreValues(text, maxJsonValues)) {
    throw new SvcError('TooLarge', `the body has more than ${maxJsonValues} values; send less at once`)
  }
  if (isTooDeep(text)) throw new SvcError('InvalidRequest', `the body is nested more than ${deepestJson} levels deep`)
  try {
    return JSON.parse(text) as JsonObject
  } catch (cause) {
    throw new SvcError('InvalidRequest', 'the body is not valid JSON', { cause })
  }
}

function openCall(
  request: ConversationRequest,
  target: ProxyTarget,
): Omit<ProxyCall, 'stream' | 'signal' | 'spending' | 'traceUid'> {
  const { caller, namespace, requestId } = request
  const bodyText = request.body.toString('utf8')
  return {
    family: endpointFamilies[request.endpoint],
    endpoint: request.endpoint,
    caller,
    namespace,
    body: parseBody(bodyText),
    bodyText,
    headers: headersOf(request.headers),
    models: [target.choice, ...target.fallbacks.map(({ choice }) => choice)],
    serverTools: wantsTools(request, target),
    requestId,
  }
}

function priceOf(target: ProxyTarget, served: Pick<ServedCall, 'provider' | 'model'>): { price?: Price } {
  const { namespace, name } = served.provider
  const isServer = ({ key, model }: ProxyTarget) =>
    key.namespace === namespace && key.name === name && model === served.model
  const price = [target, ...target.fallbacks].find(isServer)?.price
  return price === undefined ? {} : { price }
}

function toMetered({ namespace, billedTo }: BilledRequest, target: ProxyTarget, served: ServedCall): MeteredCall {
  const { usage, estimated, model, demo, provider } = served
  return {
    billedTo,
    provider: nameProviderIn(namespace, provider),
    model,
    usage,
    ...(estimated && { estimated }),
    demo,
    ...priceOf(target, served),
  }
}

export function createLoopPlans({ loop, callers, slots, meter, ledger, observe, ids }: LoopPlanDeps): LoopPlans {
  const plan: LoopPlans['plan'] = (request, target, { stream }) => {
    const { endpoint, requestId, arrivedAt } = request
    let usage: TokenUsage | undefined
    let cost: Cost | undefined
    let calls = 0
    const spending: Spending = {
      count(served) {
        usage = addUsage(usage ?? noUsage, served.usage)
        const metered = toMetered(request, target, served)
        const more = computeCost(metered.usage, metered.price)
        if (more !== undefined) cost = { ...more, cost: more.cost + (cost?.cost ?? 0) }
        meter.count(metered)
      },
      // For the first call it was asked before the request was planned.
      require: () => (calls++ === 0 ? undefined : ledger.require(request.billedTo, request.own)),
    }
    const free = slots.take(request)
    const traceUid = ids.hex(traceUidLength)
    return {
      answer: async (signal) => loop({ ...openCall(request, target), stream, signal, spending, traceUid }),
      done(outcome) {
        free()
        callers.leave(accountOf(request.caller))
        observe({
          family: endpointFamilies[endpoint],
          provider: target.choice.provider.type,
          model: target.model,
          requestId,
          totalMs: performance.now() - arrivedAt,
          endpoint,
          mode: 'loop',
          outcome,
          traceUid,
          ...(usage && { usage }),
          ...traceCall(request.caller, { provider: target.key, cost }),
        })
      },
    }
  }
  return {
    plan,
    // Tool calls from earlier answers that the client sends back must be recognized.
    isIdle: async ({ body, namespace }) => !body.includes(serverCallMark) && !(await loop.hasTools(namespace)),
    close: loop.close,
  }
}
