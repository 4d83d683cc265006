// Metrics of tasks: how long they wait and run, how often they are retried. Labels are the types and phases of the
// contract.
import type { Registry } from 'prom-client'
import { type CounterSeries, createCounter, createHistogram, createMemo, type HistogramSeries } from './tallies.ts'

/** What one change of a task's status says. */
export type TaskMeasure = {
  type: string
  /** The new phase. */
  phase?: string
  /** From its creation to its first start. */
  waitedSeconds?: number
  /** From the start of the last attempt to the end of the task. */
  ranSeconds?: number
  /** Attempts that were started because one had failed. */
  retries?: number
}

/** Series that exist from the first scrape on. */
export type TaskWords = { types: readonly string[]; phases: readonly string[]; endPhases: readonly string[] }

const waitBuckets = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600]
const runBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]

export function createTaskObserver(registry: Registry, words: TaskWords): (measure: TaskMeasure) => void {
  const transitions = createCounter(registry, {
    name: 'svc_task_transitions_total',
    help: 'Changes of the phase of tasks.',
  })
  const retries = createCounter(registry, {
    name: 'svc_task_retries_total',
    help: 'Attempts that were started because one had failed.',
  })
  const waits = createHistogram(registry, {
    name: 'svc_task_queue_wait_seconds',
    help: 'From the creation of a task, which has a precision of one second, to its first start.',
    buckets: waitBuckets,
  })
  const runs = createHistogram(registry, {
    name: 'svc_task_duration_seconds',
    help: 'From the start of the last attempt to the end of the task.',
    buckets: runBuckets,
  })
  const transitionSeries = createMemo<CounterSeries>()
  const retrySeries = createMemo<CounterSeries>()
  const waitSeries = createMemo<HistogramSeries>()
  const runSeries = createMemo<HistogramSeries>()
  const series = {
    transition: (phase: string) => transitionSeries(phase, () => transitions.series({ phase })),
    retry: (type: string) => retrySeries(type, () => retries.series({ type })),
    wait: (type: string) => waitSeries(type, () => waits.series({ type })),
    run: (type: string, phase: string) => runSeries(`${type} ${phase}`, () => runs.series({ type, phase })),
  }
  for (const phase of words.phases) series.transition(phase)
  for (const type of words.types) {
    series.retry(type)
    series.wait(type)
    for (const phase of words.endPhases) series.run(type, phase)
  }
  return ({ type, phase, waitedSeconds, ranSeconds, retries: again = 0 }) => {
    if (again > 0) series.retry(type).add(again)
    if (waitedSeconds !== undefined) series.wait(type).observe(waitedSeconds)
    if (phase === undefined) return
    series.transition(phase).add(1)
    if (ranSeconds !== undefined) series.run(type, phase).observe(ranSeconds)
  }
}
