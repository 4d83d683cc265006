// Delivers callbacks about ended tasks and open approvals: signed, through the egress room, retried with backoff for a day (TASK-055,
// TASK-056).
import type { Task, WebhookStatus } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import type { Approval } from '../../ports/tasks/parking.ts'
import {
  callbackDelayMs,
  callbackDue,
  callbackWindowMs,
  makeApprovalBody,
  makeCallbackBody,
  signCallback,
  signingSecret,
} from '../../rules/tasks/callback.ts'
import { isParked } from '../../rules/tasks/parking.ts'
import { type Controller, defineController, type KeySource, parseKey, type Reconciled } from '../engine/controller.ts'
import { attemptOf, type DeliveryDeps } from './context.ts'
import type { ApprovalNotices } from './state.ts'
import type { StatusRecorder } from './status-recorder.ts'

const timeoutMs = 30_000

type CallbackDeps = DeliveryDeps & { recorder: StatusRecorder }

/** The namespace's signing key; created on first use. */
async function readSigningKey({ secrets, ids }: CallbackDeps, namespace: string): Promise<string> {
  const key = { namespace, name: signingSecret }
  const pick = (values: Record<string, string> | undefined) => values?.secret ?? Object.values(values ?? {})[0]
  const present = pick(await secrets.read(key))
  if (present !== undefined && present !== '') return present
  const made = ids.hex(64)
  try {
    await secrets.create({ ...key, stringData: { secret: made } })
    return made
  } catch (error) {
    const others = pick(await secrets.read(key))
    if (isSvcError(error, 'AlreadyExists') && others !== undefined && others !== '') return others
    throw error
  }
}

/** `delivery`: what the receiver knows a repeated one by. */
type Callback = { task: Task; body: string; delivery: string }

/** Undefined when it was delivered, otherwise the error. */
async function deliver(
  deps: CallbackDeps,
  { task, body, delivery }: Callback,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { namespace, name } = task.metadata
  try {
    const signature = signCallback(body, await readSigningKey(deps, namespace))
    const response = await deps.egress.request(
      {
        url: task.spec.webhookURL ?? '',
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Svc-Controller/1.0',
          'x-svc-task': name,
          'x-svc-namespace': namespace,
          'x-svc-delivery': delivery,
          'x-svc-signature-256': signature,
        },
        body,
        maxBytes: 4096,
        timeoutMs,
        maxRedirects: 0,
        policy: { allowNetworks: deps.settings.egress.allowNetworks, deny: deps.settings.egress.deny },
      },
      signal,
    )
    if (response.status >= 200 && response.status < 300) return undefined
    return `the receiver answered ${response.status}; it must answer 2xx`
  } catch (error) {
    return messageOf(error)
  }
}

type Delivery = { webhook: WebhookStatus; event: { type: string; message: string; reason?: string }; retryMs?: number }

/** The new state after a delivery succeeded or failed. */
function judge(deps: CallbackDeps, task: Task, failure: string | undefined): Delivery {
  const now = deps.clock.now()
  const attempts = (task.status?.webhook?.attempts ?? 0) + 1
  const seen = { attempts, lastAttemptTime: now.toISOString() }
  if (failure === undefined) {
    const event = { type: 'CallbackDelivered', message: `the completion callback was delivered (try ${attempts})` }
    return { webhook: { state: 'Delivered', ...seen }, event }
  }
  const retryMs = callbackDelayMs(attempts, deps.ids.random())
  const next = new Date(now.getTime() + retryMs)
  const ended = Date.parse(task.status?.completionTime ?? task.metadata.creationTimestamp)
  const lastError = failure.slice(0, 500)
  if (next.getTime() > ended + callbackWindowMs) {
    const message = `the completion callback was given up after 24 h and ${attempts} tries: ${lastError}`
    return { webhook: { state: 'Failed', ...seen, lastError }, event: { type: 'CallbackFailed', message } }
  }
  const message = `the completion callback could not be delivered (try ${attempts}): ${lastError}`
  const webhook = { state: 'Pending' as const, ...seen, nextAttemptTime: next.toISOString(), lastError }
  return { webhook, event: { type: 'CallbackRetry', message }, retryMs }
}

async function reconcileCallback(deps: CallbackDeps, key: string, signal: AbortSignal): Promise<Reconciled> {
  const task = await deps.resources.get('Task', parseKey(key))
  if (task === undefined || task.metadata.deletionTimestamp !== undefined || !callbackDue(task)) return undefined
  const next = task.status?.webhook?.nextAttemptTime
  const waitMs = next === undefined ? 0 : Date.parse(next) - deps.clock.now().getTime()
  if (waitMs > 0) return { requeueAfterMs: waitMs }
  const callback = { task, body: makeCallbackBody(task), delivery: task.metadata.uid }
  const failure = await deliver(deps, callback, signal)
  if (signal.aborted) return undefined
  const { webhook, event, retryMs } = judge(deps, task, failure)
  await deps.recorder.move(task, event, { webhook, webhookDelivered: webhook.state === 'Delivered' })
  return retryMs === undefined ? undefined : { requeueAfterMs: retryMs }
}

/** A separate controller, so that a slow receiver delays no task. `source` adds the keys of ended tasks. */
export function createCallbackController(deps: CallbackDeps, source: KeySource): Controller {
  return defineController({
    name: 'task-callbacks',
    sources: [source],
    concurrency: 16,
    reconcile: (key, signal) => reconcileCallback(deps, key, signal),
  })
}

type ApprovalCallbackDeps = CallbackDeps & {
  /** By key of the task. */
  notices: Map<string, ApprovalNotices>
}

async function readPending({ records }: ApprovalCallbackDeps, task: Task): Promise<Approval[]> {
  const waits = (await records.parkings.get(attemptOf(task))) ?? []
  const ids = waits.flatMap((wait) => (wait.kind === 'approval' ? [wait.id] : []))
  const found = await Promise.all(ids.map((id) => records.approvals.get(id)))
  return found.filter((approval): approval is Approval => approval?.status === 'pending')
}

/** Milliseconds until the next try; undefined when it was delivered. */
async function notify(
  deps: ApprovalCallbackDeps,
  { task, approval, notices }: { task: Task; approval: Approval; notices: ApprovalNotices },
  signal: AbortSignal,
): Promise<number | undefined> {
  const known = notices.get(approval.id) ?? { tries: 0, nextAt: 0, isDelivered: false }
  notices.set(approval.id, known)
  if (known.isDelivered) return undefined
  const leftMs = known.nextAt - monotonicMs(deps.clock)
  if (leftMs > 0) return leftMs
  const failure = await deliver(deps, { task, body: makeApprovalBody(task, approval), delivery: approval.id }, signal)
  if (signal.aborted) return undefined
  known.tries += 1
  known.isDelivered = failure === undefined
  if (failure === undefined) {
    const message = `the receiver of callbacks was told of approval ${approval.id} (try ${known.tries})`
    await deps.recorder.append(task, { type: 'CallbackDelivered', message })
    return undefined
  }
  const message = `the receiver of callbacks could not be told of approval ${approval.id} (try ${known.tries}): ${failure}`
  await deps.recorder.append(task, { type: 'CallbackRetry', message })
  const delayMs = callbackDelayMs(known.tries, deps.ids.random())
  known.nextAt = monotonicMs(deps.clock) + delayMs
  return delayMs
}

async function reconcileApprovals(deps: ApprovalCallbackDeps, key: string, signal: AbortSignal): Promise<Reconciled> {
  const task = await deps.resources.get('Task', parseKey(key))
  if (task?.spec.webhookURL === undefined || !isParked(task)) return undefined
  const notices = deps.notices.get(key) ?? new Map()
  deps.notices.set(key, notices)
  const pending = await readPending(deps, task)
  const waits = await Promise.all(pending.map((approval) => notify(deps, { task, approval, notices }, signal)))
  const next = Math.min(...waits.map((ms) => ms ?? Number.POSITIVE_INFINITY))
  return next === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: next }
}

/**
 * A separate controller, so that a slow receiver delays no task. A service that starts sends again what nobody has answered:
 * receivers know it by its `X-Svc-Delivery`. `source` adds the keys of parked tasks.
 */
export function createApprovalCallbackController(deps: ApprovalCallbackDeps, source: KeySource): Controller {
  return defineController({
    name: 'approval-callbacks',
    sources: [source],
    begin: () => deps.notices.clear(),
    reconcile: (key, signal) => reconcileApprovals(deps, key, signal),
  })
}
