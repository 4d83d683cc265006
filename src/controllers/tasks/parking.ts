// Parked tasks: nothing of them runs, and they have no slot, until what they wait for has come; some of it is asked for.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import { monotonicMs } from '../../lib/clock.ts'
import type { ProbeAnswer } from '../../ports/tasks/parking.ts'
import { setCondition } from '../../rules/resources/conditions.ts'
import type { TaskDecision } from '../../rules/tasks/decision.ts'
import { isParked, type ParkView, parkedCondition, probeDelayMs, viewParking } from '../../rules/tasks/parking.ts'
import {
  type Controller,
  defineController,
  type Enqueue,
  type KeySource,
  parseKey,
  type Reconciled,
} from '../engine/controller.ts'
import { updateChildTasks } from './children.ts'
import { attemptOf, type ProbeDeps, type ReconcileContext, taskKeyOf } from './context.ts'
import { stopAttempt } from './finish.ts'
import { findProbed, type Probed, type ProbedAttempts } from './state.ts'

type ProbeWait = Extract<ParkWait, { kind: 'probe' }>

type ProbingDeps = ProbeDeps & {
  /** By the key of the task. */
  probed: ProbedAttempts
  /** Queues another look at a task. */
  enqueue: Enqueue
}

const timeoutMs = 30_000

async function ask(deps: ProbingDeps, task: Task, wait: ProbeWait, signal: AbortSignal): Promise<ProbeAnswer> {
  const probe = deps.probes?.[wait.probe]
  // Of another version of the service: its tool has to say what it makes of that.
  if (probe === undefined) return 'arrived'
  try {
    return await probe({ task, args: wait.args }, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
  } catch (error) {
    const { namespace, name } = task.metadata
    deps.log.warn({ namespace, task: name, probe: wait.probe, error: messageOf(error) }, 'a probe failed')
    return 'waiting'
  }
}

function knownOf({ probed }: ProbingDeps, key: string, task: Task): Probed {
  const attempt = attemptOf(task)
  const known = findProbed(probed, key, attempt)
  if (known !== undefined) return known
  const fresh = { ...attempt, probes: 0, nextAt: 0, arrived: new Set<string>() }
  probed.set(key, fresh)
  return fresh
}

type ToAsk = { task: Task; waits: ProbeWait[] }

/** What of the task is still to be asked for. */
async function readWaits({ resources, records }: ProbingDeps, key: string): Promise<ToAsk | undefined> {
  const task = await resources.get('Task', parseKey(key))
  if (task === undefined || !isParked(task)) return undefined
  const waits = (await records.parkings.get(attemptOf(task)))?.filter((wait) => wait.kind === 'probe') ?? []
  return waits.length === 0 ? undefined : { task, waits }
}

async function reconcileProbes(deps: ProbingDeps, key: string, signal: AbortSignal): Promise<Reconciled> {
  const found = await readWaits(deps, key)
  if (found === undefined) return undefined
  const { task, waits } = found
  const known = knownOf(deps, key, task)
  const leftMs = known.nextAt - monotonicMs(deps.clock)
  if (leftMs > 0) return { requeueAfterMs: leftMs }
  const answers = await Promise.all(waits.map((wait) => ask(deps, task, wait, signal)))
  if (signal.aborted) return undefined
  const arrived = waits.filter((_wait, at) => answers[at] === 'arrived')
  for (const { call } of arrived) known.arrived.add(call)
  known.probes += 1
  const delayMs = Math.min(...waits.map(({ every }) => probeDelayMs(every, known.probes)))
  known.nextAt = monotonicMs(deps.clock) + delayMs
  if (arrived.length === 0) return { requeueAfterMs: delayMs }
  deps.enqueue(key)
  return undefined
}

/** A separate controller, so that a slow code host delays no task. `source` adds the keys of parked tasks. */
export function createProbeController(deps: ProbingDeps, source: KeySource): Controller {
  return defineController({
    name: 'task-probes',
    sources: [source],
    concurrency: 8,
    begin: () => deps.probed.clear(),
    reconcile: (key, signal) => reconcileProbes(deps, key, signal),
  })
}

type TasksWait = Extract<ParkWait, { kind: 'tasks' }>

/** Those at the beginning of the list that have ended: one that has not is enough to know. */
async function findEndedTasks(
  { resources }: ReconcileContext,
  namespace: string,
  { tasks }: TasksWait,
): Promise<string[]> {
  const ended: string[] = []
  for (const { name, uid } of tasks) {
    const task = await resources.get('Task', { namespace, name })
    if (task?.metadata.uid === uid && !isTerminalPhase(task.status?.phase)) return ended
    ended.push(uid)
  }
  return ended
}

/** Uids of tasks, ids of approvals, and calls. */
async function findEnded(context: ReconcileContext, task: Task, wait: ParkWait): Promise<string[]> {
  switch (wait.kind) {
    case 'tasks':
      return await findEndedTasks(context, task.metadata.namespace, wait)
    case 'approval': {
      const approval = await context.records.approvals.get(wait.id)
      return approval?.status === 'pending' ? [] : [wait.id]
    }
    case 'probe':
      return [...(findProbed(context.state.probed, taskKeyOf(task), attemptOf(task))?.arrived ?? [])]
    case 'time':
      return []
  }
}

/** What the live attempt waits for since it ended; undefined when it has not parked. */
export async function observeParking(context: ReconcileContext, task: Task): Promise<ParkView | undefined> {
  const waits = await context.records.parkings.get(attemptOf(task))
  if (waits === undefined) return undefined
  const found = await Promise.all(waits.map((wait) => findEnded(context, task, wait)))
  const ended = new Set(found.flat())
  return viewParking(waits, { now: context.clock.now(), hasEnded: (id) => ended.has(id) })
}

type ParkDecision = Extract<TaskDecision, { action: 'park' }>

/** Frees the attempt and its slot. What it waits for may have come by now, so it is looked at again. */
export async function parkAttempt(
  context: ReconcileContext,
  task: Task,
  { reason, message }: ParkDecision,
): Promise<Reconciled> {
  await stopAttempt(context, task)
  const condition = { type: parkedCondition, status: 'True' as const, reason, message }
  await context.recorder.move(
    task,
    { type: 'Parked', phase: 'Running', reason, message },
    {
      message,
      parkings: (task.status?.parkings ?? 0) + 1,
      conditions: setCondition(task.status?.conditions, condition, context.clock.now()),
    },
  )
  context.state.scheduler.release(taskKeyOf(task))
  return { requeueAfterMs: 0 }
}

export async function keepParked(
  context: ReconcileContext,
  task: Task,
  { lookAgainMs, isProbed }: Extract<TaskDecision, { action: 'rest' }>,
): Promise<Reconciled> {
  if (isProbed) context.probe(taskKeyOf(task))
  if (task.spec.webhookURL !== undefined) context.notifyApprovals(taskKeyOf(task))
  await updateChildTasks(context, task)
  return lookAgainMs === undefined ? undefined : { requeueAfterMs: Math.max(0, lookAgainMs) }
}
