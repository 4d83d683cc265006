// Plans of what needs more than bytes passed on: the loop or the translation, with usage per call.

import type { ModelChoice } from '../contract/api/assignment.ts'
import { mostJsonValues } from '../contract/validation.ts'
import { SvcError } from '../errors.ts'
import { deepestJson, hasMoreValues, isTooDeep } from '../llm/foreign-json.ts'
import { addUsage, type TokenUsage } from '../llm/messages.ts'
import { serverCallMark } from '../llm/server-calls.ts'
import { identifyCaller } from '../rules/caller-identity.ts'
import { nameProviderIn } from '../usecases/providers/name.ts'
import type { Slots } from '../usecases/slots.ts'
import type { CallerLimits } from './caller-limits.ts'
import type { ProxyLoopDeps } from './loop/deps.ts'
import type { ProxyLoop } from './loop/run.ts'
import type { RequestFields } from './relay/request-text.ts'
import { accountOf, type ProxyPlan, type ProxyRequest, type ProxySample, taskOf, wantsTools } from './request.ts'
import { endpointFamilies, type Target } from './target.ts'
import type { Conversation, JsonObject, ProxyCall } from './types.ts'
import type { UsageMeter } from './usage-meter.ts'

export type CreateLoop = (noteUsage: ProxyLoopDeps['noteUsage']) => ProxyLoop

export type LoopPlanDeps = {
  createLoop: CreateLoop
  callers: CallerLimits
  slots: Slots
  meter: UsageMeter
  observe(sample: ProxySample): void
}

export type LoopPlans = {
  plan(request: ConversationRequest, target: Target, fields: RequestFields): ProxyPlan
  /** Whether the loop would have anything to add to a request; without, its bytes can be passed on (PROXY-003). */
  isIdle(request: ProxyRequest): Promise<boolean>
  close(): void
}

type ConversationRequest = ProxyRequest & { endpoint: Conversation }

function headersOf(flat: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < flat.length; at += 2) headers[String(flat[at])] = String(flat[at + 1])
  return headers
}

function parseBody(text: string): JsonObject {
  if (hasMoreValues(text, mostJsonValues)) {
    throw new SvcError('TooLarge', `the body has more than ${mostJsonValues} values; send less at once`)
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
  target: Target,
  { stream, signal }: { stream: boolean; signal: AbortSignal },
): ProxyCall {
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
    stream,
    serverTools: wantsTools(request, target),
    signal,
    requestId,
  }
}

export function createLoopPlans({ createLoop, callers, slots, meter, observe }: LoopPlanDeps): LoopPlans {
  const used = new WeakMap<ProxyCall, TokenUsage>()
  const runLoop = createLoop((call, { usage, estimated, model, demo, provider }) => {
    const before = used.get(call)
    used.set(call, before === undefined ? usage : addUsage(before, usage))
    const { namespace, caller, models } = call
    const isServer = ({ provider: { namespace: place, name } }: ModelChoice) =>
      place === provider.namespace && name === provider.name
    const price = models.find(isServer)?.provider.price
    const priced = price === undefined ? {} : { price }
    meter.count({
      namespace,
      caller: identifyCaller(caller),
      ...taskOf(caller),
      provider: nameProviderIn(namespace, provider),
      model,
      usage,
      ...(estimated && { estimated }),
      demo,
      ...priced,
    })
  })
  const plan: LoopPlans['plan'] = (request, target, { stream }) => {
    let call: ProxyCall | undefined
    const free = slots.take(request)
    return {
      async answer(signal) {
        call = openCall(request, target, { stream, signal })
        return runLoop(call)
      },
      done(outcome) {
        free()
        callers.leave(accountOf(request.caller))
        const usage = call && used.get(call)
        const { endpoint, requestId, arrivedAt } = request
        observe({
          family: endpointFamilies[endpoint],
          provider: target.choice.provider.type,
          model: target.model,
          requestId,
          totalMs: performance.now() - arrivedAt,
          endpoint,
          mode: 'loop',
          outcome,
          ...(usage && { usage }),
        })
      },
    }
  }
  return {
    plan,
    // Calls of before, that come back, are to be known again.
    isIdle: async ({ body, namespace }) => !body.includes(serverCallMark) && !(await runLoop.hasTools(namespace)),
    close: runLoop.close,
  }
}
