// Tells the receiver of a task's callbacks what the task asks people for while it is parked.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { Approval } from '../../ports/tasks/approvals.ts'
import { callbackDelayMs, makeApprovalBody } from '../../rules/tasks/callback.ts'
import { isParked } from '../../rules/tasks/parking.ts'
import { type Controller, defineController, type Reconciled, type Source } from '../engine/controller.ts'
import { parseKey } from '../engine/key.ts'
import { type CallbackDeps, deliver } from './callbacks.ts'
import { attemptOf } from './context.ts'
import type { ToldApprovals } from './parked.ts'

export type ApprovalCallbackDeps = CallbackDeps & {
  /** By key of the task. */
  told: Map<string, ToldApprovals>
}

async function readPending({ records }: ApprovalCallbackDeps, task: Task): Promise<Approval[]> {
  const waits = (await records.parkings.get(attemptOf(task))) ?? []
  const ids = waits.flatMap((wait) => (wait.kind === 'approval' ? [wait.id] : []))
  const found = await Promise.all(ids.map((id) => records.approvals.get(id)))
  return found.filter((approval): approval is Approval => approval?.status === 'pending')
}

/** Milliseconds until the next try; undefined when it was delivered. */
async function tell(
  deps: ApprovalCallbackDeps,
  { task, approval, told }: { task: Task; approval: Approval; told: ToldApprovals },
  signal: AbortSignal,
): Promise<number | undefined> {
  const known = told.get(approval.id) ?? { tries: 0, nextAt: 0, isDelivered: false }
  told.set(approval.id, known)
  if (known.isDelivered) return undefined
  const leftMs = known.nextAt - deps.clock.now().getTime()
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
  known.nextAt = deps.clock.now().getTime() + delayMs
  return delayMs
}

async function reconcileApprovals(deps: ApprovalCallbackDeps, key: string, signal: AbortSignal): Promise<Reconciled> {
  const task = await deps.resources.get('Task', parseKey(key))
  if (task?.spec.webhookURL === undefined || !isParked(task)) return undefined
  const told = deps.told.get(key) ?? new Map()
  deps.told.set(key, told)
  const pending = await readPending(deps, task)
  const waits = await Promise.all(pending.map((approval) => tell(deps, { task, approval, told }, signal)))
  const next = Math.min(...waits.map((ms) => ms ?? Number.POSITIVE_INFINITY))
  return next === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: next }
}

/**
 * A separate controller, so that a slow receiver delays no task. A service that starts tells again what nobody has answered:
 * receivers know it by its `X-Svc-Delivery`. `source` adds the keys of parked tasks.
 */
export function createApprovalCallbackController(deps: ApprovalCallbackDeps, source: Source): Controller {
  return defineController({
    name: 'approval-callbacks',
    sources: [source],
    begin: () => deps.told.clear(),
    reconcile: (key, signal) => reconcileApprovals(deps, key, signal),
  })
}
