// Asks for the slow things outside that parked tasks wait for, and has the task looked at once one of them has come.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import type { ProbeAnswer } from '../../ports/tasks/probes.ts'
import { isParked } from '../../rules/tasks/parking.ts'
import { probeDelayMs } from '../../rules/tasks/probe-pace.ts'
import { type Controller, defineController, type Enqueue, type Reconciled, type Source } from '../engine/controller.ts'
import { parseKey } from '../engine/key.ts'
import { attemptOf } from './context.ts'
import { findProbed, type Probed, type ProbedAttempts } from './parked.ts'
import type { TaskControllerDeps } from './settings.ts'

type ProbeWait = Extract<ParkWait, { kind: 'probe' }>

export type ProbingDeps = TaskControllerDeps & {
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
  const fresh = { ...attempt, asked: 0, nextAt: 0, arrived: new Set<string>() }
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
  const leftMs = known.nextAt - deps.clock.now().getTime()
  if (leftMs > 0) return { requeueAfterMs: leftMs }
  const answers = await Promise.all(waits.map((wait) => ask(deps, task, wait, signal)))
  if (signal.aborted) return undefined
  const arrived = waits.filter((_wait, at) => answers[at] === 'arrived')
  for (const { call } of arrived) known.arrived.add(call)
  known.asked += 1
  const delayMs = Math.min(...waits.map(({ every }) => probeDelayMs(every, known.asked)))
  known.nextAt = deps.clock.now().getTime() + delayMs
  if (arrived.length === 0) return { requeueAfterMs: delayMs }
  deps.enqueue(key)
  return undefined
}

/** A separate controller, so that a slow code host delays no task. `source` adds the keys of parked tasks. */
export function createProbeController(deps: ProbingDeps, source: Source): Controller {
  return defineController({
    name: 'task-probes',
    sources: [source],
    concurrency: 8,
    begin: () => deps.probed.clear(),
    reconcile: (key, signal) => reconcileProbes(deps, key, signal),
  })
}
