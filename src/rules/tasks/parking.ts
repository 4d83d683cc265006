// Parked tasks: what they wait for, and when that is over.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { hasAttempt, type Task } from '../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { findCondition } from '../resources/conditions.ts'

const minMs = 5_000
const firstMs = 10_000
const growth = 1.5
const maxPauseMs = 120_000
const maxMs = 600_000

/** The pause after having asked `asked` times; `every` as its wait says. */
export function probeDelayMs(every: string | undefined, probes: number): number {
  const wanted = every === undefined ? firstMs : (tryParseDuration(every) ?? firstMs)
  const first = Math.min(maxMs, Math.max(minMs, wanted))
  return Math.round(Math.min(Math.max(first, maxPauseMs), first * growth ** Math.min(probes - 1, 30)))
}

/** Type of the condition that is True while a task is parked, and False once it goes on. */
export const parkedCondition = 'Parked'

/** Set where something that a parked task may wait for has come, so that its controller looks, on whichever replica. */
export const wakeAnnotation = 'svc.ai/woken-by'

export type ParkReason = 'WaitingForTasks' | 'WaitingForApproval' | 'WaitingForTime' | 'WaitingForProbe'

/** What the task waits for, as far as a decision needs it. */
export type ParkView = {
  reason: ParkReason
  message: string
  /** Milliseconds until the first of the waits ends by itself. */
  leftMs?: number
  isOver: boolean
  /** Something of it has to be asked for. */
  isProbed?: boolean
}

function statusOf({ status }: Pick<Task, 'status'>): string | undefined {
  return findCondition(status?.conditions, parkedCondition)?.status
}

export function isParked(task: Pick<Task, 'status'>): boolean {
  return task.status?.phase === 'Running' && statusOf(task) === 'True'
}

/** Its live attempt goes on after the task was parked. */
export function isResumed(task: Pick<Task, 'status'>): boolean {
  return hasAttempt(task.status) && statusOf(task) === 'False'
}

const reasons: Record<ParkWait['kind'], ParkReason> = {
  tasks: 'WaitingForTasks',
  approval: 'WaitingForApproval',
  time: 'WaitingForTime',
  probe: 'WaitingForProbe',
}

const shownNames = 5

function describeWait(wait: ParkWait): string {
  switch (wait.kind) {
    case 'tasks': {
      const names = wait.tasks.slice(0, shownNames).map(({ name }) => name)
      const more = wait.tasks.length - names.length
      return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
    }
    case 'approval':
      return `approval ${wait.id}`
    case 'time':
    case 'probe':
      return `${wait.what}, until ${wait.until}`
  }
}

/** Whether the task of that uid has ended or is gone, the approval of that id is answered, or what that call waits for has come. */
type HasEnded = (id: string) => boolean

function isWaitOver(wait: ParkWait, { now, hasEnded }: { now: Date; hasEnded: HasEnded }): boolean {
  if (now.getTime() >= Date.parse(wait.until)) return true
  switch (wait.kind) {
    case 'tasks':
      return wait.tasks.every(({ uid }) => hasEnded(uid))
    case 'approval':
      return hasEnded(wait.id)
    case 'probe':
      return hasEnded(wait.call)
    case 'time':
      return false
  }
}

/** What is waited for, seen now; the first wait that is over ends them all. */
export function viewParking(waits: readonly ParkWait[], seen: { now: Date; hasEnded: HasEnded }): ParkView {
  const [first] = waits
  const ends = waits.map(({ until }) => Date.parse(until))
  return {
    reason: first === undefined ? 'WaitingForTime' : reasons[first.kind],
    message: `parked: waits for ${waits.map(describeWait).join('; ')}`,
    ...(ends.length > 0 && { leftMs: Math.min(...ends) - seen.now.getTime() }),
    ...(waits.some(({ kind }) => kind === 'probe') && { isProbed: true }),
    isOver: waits.length === 0 || waits.some((wait) => isWaitOver(wait, seen)),
  }
}
