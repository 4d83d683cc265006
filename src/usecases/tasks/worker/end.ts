// The end of an attempt: what it still has to hand in, and its own word on how it went.
import type { EndSubmit } from '../../../contract/api/tasks/attempt-end.ts'
import type { ParkWait } from '../../../contract/api/tasks/parking.ts'
import type { StepReport } from '../../../contract/api/tasks/steps.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { WorkerIdentity } from '../../../ports/identity/identity.ts'
import type { Probes } from '../../../ports/tasks/parking.ts'
import { stepSubjectOf } from '../../../rules/tasks/step-spans.ts'
import type { TaskBudgetChecks } from '../../budgets/task-budgets.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { requireRunningTask, type TaskPath } from './live-attempt.ts'
import type { ReportedCall, WorkerModelCalls } from './model-calls.ts'
import { readLine, redactStep } from './records.ts'

export type WorkerEnds = {
  /**
   * Stores what the attempt hands in, all or nothing, and ends it where it shares a process: another one ends with its process. Repeating
   * changes nothing. Forbidden for any attempt but the live one; InvalidRequest for a probe that there is not; Conflict when a later attempt has parked.
   */
  submitEnd(identity: WorkerIdentity, path: TaskPath, end: EndSubmit): Promise<void>
}

type Parts = { steps: StepReport[]; result: string | undefined; waits: ParkWait[] | undefined; calls: ReportedCall[] }

/** Attempts whose last lines are remembered as taken: more end at once on no machine. */
const maxTaken = 20_000

function requireProbes(probes: Probes, waits: readonly ParkWait[] = []): void {
  const known = Object.keys(probes)
  for (const wait of waits) {
    if (wait.kind !== 'probe' || known.includes(wait.probe)) continue
    const there = known.length === 0 ? 'there are none here' : `there are: ${known.join(', ')}`
    throw new SvcError('InvalidRequest', `waits: there is no probe "${wait.probe}"; ${there}`)
  }
}

export function createWorkerEnd(
  { ports, settings, taskBudgets }: UsecaseDeps & { taskBudgets: TaskBudgetChecks },
  { countCall }: Pick<WorkerModelCalls, 'countCall'>,
): WorkerEnds {
  const { records, resources, runners, probes = {} } = ports
  /** Lines have no key by which a log could know them again. */
  const taken = new BoundedMap<string, true>({ max: maxTaken })

  async function appendLog(
    { taskUid, attempt }: WorkerIdentity,
    { log = '', marked = false }: EndSubmit,
  ): Promise<void> {
    const name = `${taskUid}/${attempt}`
    if (log === '' || taken.get(name)) return
    const lines = log.split('\n')
    const rest = lines.pop()
    await records.logs.append(
      { taskUid, attempt },
      lines.flatMap((line) => readLine(line, marked)),
      rest,
    )
    taken.set(name, true)
  }

  async function store({ taskUid, attempt, namespace }: WorkerIdentity, task: Task, parts: Parts): Promise<void> {
    const { result, waits, calls, steps } = parts
    if (result === undefined && waits === undefined && calls.length === 0 && steps.length === 0) return
    const usage = calls.map(({ record }) => record)
    await records.ends.store({ taskUid, attempt, namespace, result, waits, usage, steps })
    for (const { settle } of calls) settle()
    if (calls.length > 0) await taskBudgets.note(task)
  }

  return {
    async submitEnd(identity, path, end) {
      const task = await requireRunningTask(resources, identity, path)
      const result = end.ok ? end.result : undefined
      const waits = end.ok ? undefined : end.waits
      requireProbes(probes, waits)
      const calls = await Promise.all((end.usage ?? []).map((usage) => countCall(identity, task, usage)))
      await appendLog(identity, end)
      const steps = (end.steps ?? []).map(redactStep)
      await store(identity, task, { result, waits, calls, steps })
      settings.onSteps?.(stepSubjectOf(task), identity.attempt, steps)
      runners?.end({ taskUid: identity.taskUid, attempt: identity.attempt }, end)
    },
  }
}
