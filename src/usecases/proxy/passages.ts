// Plans of the fast path: the request edited, the pipe opened, and all accounts settled at its end.
import { SvcError } from '../../errors.ts'
import type { PipeControl } from '../../ports/egress.ts'
import type { CallerLimits } from './caller-limits.ts'
import type { Deadlines } from './deadlines.ts'
import { type Outlet, type PassedCall, startPassage } from './passthrough.ts'
import type { Lease, ProviderLimits } from './provider-limits.ts'
import { accountOf, type Outcome, type ProxyPlan, type ProxyRequest, type ProxySample } from './request.ts'
import { type RequestFields, replaceModel } from './request-text.ts'
import { endpointFamilies, type Target } from './target.ts'
import type { UsageMeter } from './usage-meter.ts'

export type PassageDeps = {
  callers: CallerLimits
  providers: ProviderLimits
  meter: UsageMeter
  deadlines: Deadlines
  observe(sample: ProxySample): void
  now(): Date
}

type Job = { request: ProxyRequest; target: Target; fields: RequestFields; lease: Lease }

function outcomeOf({ failed, aborted }: PassedCall): Outcome {
  if (aborted) return 'aborted'
  return failed ? 'failed' : 'ok'
}

function settle(deps: PassageDeps, { request, target, lease }: Job, { usage }: PassedCall): void {
  deps.callers.leave(accountOf(request.caller))
  lease.settle(usage === undefined ? 0 : usage.inputTokens + usage.outputTokens)
  if (usage === undefined) return
  const { namespace, caller } = request
  const priced = target.price === undefined ? {} : { price: target.price }
  deps.meter.count({ namespace, caller: caller.username, provider: target.name, model: target.model, usage, ...priced })
}

function measure({ request, target }: Job, call: PassedCall, sentAt: number): ProxySample {
  const { usage, firstByteAt } = call
  return {
    family: endpointFamilies[request.endpoint],
    provider: target.choice.provider.type,
    endpoint: request.endpoint,
    mode: 'passthrough',
    outcome: outcomeOf(call),
    addedMs: sentAt - request.arrivedAt,
    ...(firstByteAt === undefined ? {} : { firstByteMs: firstByteAt - request.arrivedAt }),
    ...(usage === undefined ? {} : { usage }),
  }
}

function start(deps: PassageDeps, job: Job, outlet: Outlet): PipeControl {
  const { request, target, fields } = job
  const body = replaceModel(request.body, fields, target.model)
  const path = target.pathOf(request.endpoint, request.query)
  const sentAt = performance.now()
  const onLate = () => {
    outlet.fail(new SvcError('UpstreamFailed', 'the answer took longer than --chat-max-duration'))
    control.abort()
  }
  deps.deadlines.add(onLate)
  const control = startPassage({
    target,
    request: { method: 'POST', path, headers: [...target.headers, ...request.headers], body },
    outlet,
    now: deps.now,
    onTooMuch: (status, retryMs, reason) => deps.providers.coolDown(target, { status, retryMs, reason }),
    onDone(call) {
      deps.deadlines.remove(onLate)
      settle(deps, job, call)
      deps.observe(measure(job, call, sentAt))
    },
  })
  return control
}

/** TooManyRequests when the provider may not be asked now. */
export async function planPassage(
  deps: PassageDeps,
  request: ProxyRequest,
  target: Target,
  fields: RequestFields,
): Promise<ProxyPlan> {
  const lease = await deps.providers.lease(target, request.body.length)
  return { passage: (outlet) => start(deps, { request, target, fields, lease }, outlet) }
}
