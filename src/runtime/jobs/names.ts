// Names and labels of the Jobs, pods and Secrets of attempts, so that anyone can find each of them again.
import type { AttemptKey, WorkloadSpec } from '../../ports/tasks/workloads.ts'
import type { ObjectMetadata } from './objects.ts'

export const labels = {
  /** The installation of the service that it belongs to; the watches select by it. */
  instance: 'svc.ai/instance',
  component: 'svc.ai/component',
  taskUid: 'svc.ai/task-uid',
  attempt: 'svc.ai/attempt',
} as const

export const annotations = {
  /** A task's name may be longer than a label's value. */
  taskName: 'svc.ai/task-name',
  /** Up to where the log is stored: timestamp and number of the last line (`readPosition`). */
  logPosition: 'svc.ai/log-position',
  /** The commit of a git repository that it began with. */
  checkoutBase: 'svc.ai/checkout-base',
  /** It has a Secret of the same name. */
  hasSecret: 'svc.ai/has-secret',
} as const

/**
 * `worker` runs the worker program, `command` a user's command, `sealed` one without network, `sandbox` the code of one call of
 * code_exec.
 */
export type Component = 'worker' | 'command' | 'sealed' | 'sandbox'

/** Workloads of attempts: not the sandboxes. */
export const componentSelector = `${labels.component} in (worker,command,sealed)`

/** The container that runs the attempt: the first of its pod, and the only one besides a keeper and a sidecar. */
export const containerName = 'worker'
/** Waits for the files of a git repository before the attempt's container begins. */
export const checkoutName = 'checkout'
/** Runs the agent program of an agent task, apart from its worker. */
export const agentName = 'agent'
/** Keeps what an attempt left until it has been read. */
export const keeperName = 'keeper'
/** Writes the log of a command whose two streams are kept apart. */
export const streamsName = 'streams'

const longestName = 63

/** `<task>-job-<uid8>-<attempt>`, at most 63 characters, because it is also a label value. */
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
