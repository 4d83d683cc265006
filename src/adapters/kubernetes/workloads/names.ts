// What Jobs, pods and Secrets of attempts are called and labelled, so that each is found again by anyone.
import type { AttemptKey, WorkloadSpec } from '../../../ports/workloads.ts'
import type { ObjectMetadata } from './objects.ts'

export const labels = {
  /** Which installation of the service it belongs to; the watches select by it. */
  instance: 'svc.ai/instance',
  component: 'svc.ai/component',
  taskUid: 'svc.ai/task-uid',
  attempt: 'svc.ai/attempt',
} as const

export const annotations = {
  /** A task's name may be longer than a label's value. */
  taskName: 'svc.ai/task-name',
  /** Up to where the log is stored: moment and number of the last line (`readPosition`). */
  logPosition: 'svc.ai/log-position',
  /** There is a Secret of the same name. */
  hasSecret: 'svc.ai/has-secret',
} as const

/** `worker` runs the worker program, `command` a user's command, `sandbox` the code of one call of code_exec. */
export type Component = 'worker' | 'command' | 'sandbox'

/** Of attempts: not the sandboxes. */
export const componentSelector = `${labels.component} in (worker,command)`

/** The container that runs the attempt: the first of its pod, and the only one but for a keeper and a sidecar. */
export const containerName = 'worker'
/** Holds the folder for artifacts of a command that has one, until it was read. */
export const keeperName = 'keeper'
/** Has the log of a command whose two streams are kept apart. */
export const streamsName = 'streams'

const longestName = 63

/** `<task>-job-<uid8>-<attempt>` (reference-core 7.1), at most 63 characters: it is a label's value too. */
export function nameJob(taskName: string, { taskUid, attempt }: AttemptKey): string {
  const ending = `-job-${taskUid.slice(0, 8)}-${attempt}`
  const head = taskName.slice(0, longestName - ending.length).replace(/[^a-z0-9]+$/, '')
  return `${head}${ending}`
}

export function labelAttempt(instance: string, component: Component, key: AttemptKey): Record<string, string> {
  return {
    [labels.instance]: instance,
    [labels.component]: component,
    [labels.taskUid]: key.taskUid,
    [labels.attempt]: String(key.attempt),
  }
}

export type AttemptNames = Pick<WorkloadSpec, 'key' | 'namespace' | 'taskName'>

/** The attempt that a Job or pod belongs to, or undefined when its labels do not say. */
export function readAttempt(metadata: ObjectMetadata): AttemptNames | undefined {
  const taskUid = metadata.labels?.[labels.taskUid]
  const attempt = Number(metadata.labels?.[labels.attempt])
  const taskName = metadata.annotations?.[annotations.taskName]
  if (taskUid === undefined || taskName === undefined || !Number.isInteger(attempt) || attempt < 1) return undefined
  return { key: { taskUid, attempt }, namespace: metadata.namespace, taskName }
}
