// The proxies: turns a caller's request into either a passthrough of its bytes or an answer of the loop.
import type { ProviderTest } from '../contract/api/providers/providers.ts'
import { SvcError } from '../errors.ts'
import { dialectsOf } from '../llm/llmo/dialect.ts'
import type { ModelError } from '../llm/messages/messages.ts'
import type { Caller } from '../ports/identity/identity.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import { createTaskBudgets } from '../usecases/budgets/task-budgets.ts'
import { requireAccess, requireRight } from '../usecases/identity/access.ts'
import { keepModels, requireModel } from '../usecases/providers/models.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { createSlots, type SlotSettings, type Slots } from '../usecases/service/slots.ts'
import { createCallSteps } from './call-steps.ts'
import { type CallerLimitSettings, createCallerLimits } from './caller-limits.ts'
import type { ProxyLoopSettings } from './loop/model.ts'
import { createProxyLoop } from './loop/run.ts'
import { createStoredAnswers, type StoredAnswers } from './loop/stored-answers.ts'
import { createLoopPlans } from './loop-plans.ts'
import { createModelLister, createOfferedModels, type ModelLister } from './models.ts'
import { createProviderLimits } from './provider-limits.ts'
import { runProviderTest } from './provider-trial.ts'
import { type PassedJob, type PassthroughDeps, planPassthrough } from './relay/passthrough-plan.ts'
import { type RequestFields, readRequestFields } from './relay/request-text.ts'
import {
  accountOf,
  type BilledRequest,
  type LoopPlan,
  type ProxyPlan,
  type ProxyRequest,
  type ProxySample,
  requireGranted,
  requireSpending,
  wantsTools,
} from './request.ts'
import { createTargets } from './resolve.ts'
import { createResponsesSupport } from './responses-support.ts'
import { endpointFamilies, isConversation, type ProxyTarget } from './target.ts'
import { createTokenCounts } from './token-count.ts'
import type { ProxyDefaults } from './types.ts'
import { createProxyUsageMeter } from './usage-meter.ts'

export { tryProvider } from './provider-trial.ts'

export type ProxySettings = {
  defaults: ProxyDefaults
  callers: CallerLimitSettings
  /** The most requests that run the loop at once on this replica. Absent: no limit. */
  loops?: SlotSettings
  loop: ProxyLoopSettings
  /** Called for each request that ended. */
  observe?: (sample: ProxySample) => void
}

export type Proxies = {
  /** Throws an SvcError when the request cannot be served. Each plan must be run. */
  plan(request: ProxyRequest): Promise<ProxyPlan>
  listModels: ModelLister['list']
  getModel: ModelLister['get']
  /** A response that was stored for the caller. Forbidden, NotFound. */
  getResponse: StoredAnswers['get']
  deleteResponse: StoredAnswers['remove']
  /** Tries a provider now. Forbidden, NotFound. */
  testProvider(caller: Caller, key: ResourceKey): Promise<ProviderTest>
  /** Writes the usage of the calls that have ended. */
  settle(): Promise<void>
  /** Writes what is pending and forgets the rest. */
  close(): Promise<void>
}

/** Bytes can be passed through when the provider speaks the caller's language and nothing is added. */
function isPassed(request: ProxyRequest, target: ProxyTarget): boolean {
  if (target.family === endpointFamilies[request.endpoint]) {
    return !isConversation(request.endpoint) || !wantsTools(request, target)
  }
  if (isConversation(request.endpoint)) return false
  throw new SvcError(
    'InvalidRequest',
    `model: provider "${target.name}" belongs to another family and has no such endpoint`,
  )
}

const unbounded = Number.POSITIVE_INFINITY
const unlimited: SlotSettings = { max: unbounded }

function openSlots({ loops = unlimited }: ProxySettings): Slots {
  return createSlots('proxy requests with server-side tools', loops)
}

export function createProxies(usecases: UsecaseDeps, settings: ProxySettings): Proxies {
  const { ports } = usecases
  const { clock, ids } = ports
  const noteCall = createCallSteps(usecases)
  const observe = (sample: ProxySample) => {
    settings.observe?.(sample)
    noteCall(sample)
  }
  const { defaults } = settings
  const offered = createOfferedModels(usecases)
  const targets = createTargets(usecases, defaults, offered)
  const models = createModelLister(usecases, { defaults, offered })
  const callers = createCallerLimits(settings.callers, () => performance.now())
  const { ledger } = usecases
  const meter = createProxyUsageMeter({ usage: ports.records.usage, clock, ids, ledger })
  const spendingDeps = { ports, ledger, taskBudgets: createTaskBudgets(ports) }
  const { maxDurationMs } = settings.loop
  const providers = createProviderLimits(ports)
  const dialects = dialectsOf(ports.egress)
  const { health } = usecases
  const counts = createTokenCounts(() => performance.now())
  const { answerFor } = counts
  const loop = createProxyLoop({ ...usecases, loop: settings.loop })
  const loops = createLoopPlans({ loop, callers, slots: openSlots(settings), meter, ledger, observe, ids })
  const responses = createResponsesSupport(clock)
  const stored = createStoredAnswers(ports)
  const passing = { callers, providers, meter, health, maxDurationMs, dialects, observe, clock, answerFor }
  const passages: PassthroughDeps = { ...passing, translate }

  function translate({ request, target, fields }: PassedJob, error: ModelError): LoopPlan | undefined {
    const { endpoint } = request
    if (!isConversation(endpoint) || !responses.isMissing(request, error)) return undefined
    return responses.remember(target, loops.plan({ ...request, endpoint }, target, fields))
  }

  /** Only callers who may use a provider learn that it is missing or incomplete. */
  async function explain({ caller, namespace }: ProxyRequest, error: unknown): Promise<never> {
    await requireAccess(ports, caller, { verb: 'use', kind: 'Provider', namespace })
    throw error
  }

  /** Also when the service's tools are requested and there are none. */
  async function isPassing(request: ProxyRequest, target: ProxyTarget): Promise<boolean> {
    if (isPassed(request, target)) return true
    return target.family === endpointFamilies[request.endpoint] && (await loops.isIdle(request))
  }

  /** Fallbacks are limited to those that the caller may use; an agent's token is for one provider. */
  async function narrowFallbacks(caller: Caller, target: ProxyTarget): Promise<ProxyTarget> {
    if (caller.agent !== undefined) return { ...target, fallbacks: [] }
    const read = ({ key, model }: ProxyTarget) => ({ ...key, model })
    return { ...target, fallbacks: await keepModels(ports, caller, { of: target.fallbacks, read }) }
  }

  /** The target that the caller may use. */
  async function find(request: BilledRequest, { model }: RequestFields): Promise<ProxyTarget> {
    const { caller, namespace } = request
    const found = targets.find(namespace, model)
    const target = found instanceof Promise ? await found.catch((error) => explain(request, error)) : found
    await requireModel(ports, caller, { namespace, name: target.key.name, model: target.model })
    requireGranted(caller, target.model)
    return target
  }

  async function choose(request: BilledRequest, fields: RequestFields): Promise<ProxyPlan> {
    const { caller, endpoint } = request
    const target = await find(request, fields)
    const counted = counts.plan(request, target, () => callers.leave(accountOf(caller)))
    if (counted !== undefined) return counted
    const passes = !responses.isForeign(request, target) && (await isPassing(request, target))
    const narrowed = target.fallbacks.length === 0 ? target : await narrowFallbacks(caller, target)
    if (passes || !isConversation(endpoint)) return planPassthrough(passages, request, narrowed, fields)
    return loops.plan({ ...request, endpoint }, narrowed, fields)
  }

  return {
    async plan(request) {
      requireRight(request.caller, { verb: 'use', kind: 'Provider', namespace: request.namespace })
      const spending = await requireSpending(spendingDeps, request)
      const fields = readRequestFields(request.body)
      const account = accountOf(request.caller)
      callers.enter(account)
      try {
        return await choose(spending, fields)
      } catch (error) {
        callers.leave(account)
        throw error
      }
    },
    listModels: models.list,
    getModel: models.get,
    getResponse: stored.get,
    deleteResponse: stored.remove,
    testProvider: (caller, key) => runProviderTest(usecases, caller, key),
    settle: meter.settle,
    async close() {
      targets.close()
      offered.close()
      loops.close()
      await meter.close()
    },
  }
}
