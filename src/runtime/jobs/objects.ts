// Jobs, pods and Secrets of attempts: the parts that are read (batch/v1, core/v1), as the API server writes them with
// RFC 3339 times; and their names and labels, by which anyone can find each of them again.
import type { Collection } from '../../cluster/api/paths.ts'
import type { OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import { trimTrailing } from '../../lib/trim.ts'
import type { AttemptKey, WorkloadSpec } from '../../ports/tasks/workloads.ts'

export const jobs: Collection = { group: 'batch', version: 'v1', plural: 'jobs' }
export const pods: Collection = { group: '', version: 'v1', plural: 'pods' }
export const serviceAccounts: Collection = { group: '', version: 'v1', plural: 'serviceaccounts' }
export const networkPolicies: Collection = { group: 'networking.k8s.io', version: 'v1', plural: 'networkpolicies' }

export type ObjectMetadata = {
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  /** 1 until its spec is changed. */
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
}

export type ClusterObject = { metadata: ObjectMetadata }

export type ObjectCondition = {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export type Terminated = {
  exitCode: number
  signal?: number
  reason?: string
  message?: string
  startedAt?: string
  finishedAt?: string
}

export type ContainerState = {
  waiting?: { reason?: string; message?: string }
  running?: { startedAt: string }
  terminated?: Terminated
}

export type Job = ClusterObject & {
  spec?: { suspend?: boolean }
  status?: { conditions?: ObjectCondition[]; startTime?: string; failed?: number; succeeded?: number }
}

export type Pod = ClusterObject & {
  spec?: {
    nodeName?: string
    containers?: {
      name?: string
      resources?: { limits?: Record<string, string> }
      volumeMounts?: { mountPath?: string }[]
    }[]
    initContainers?: { name?: string }[]
  }
  status?: {
    phase?: string
    reason?: string
    message?: string
    startTime?: string
    podIPs?: { ip: string }[]
    conditions?: ObjectCondition[]
    containerStatuses?: { name: string; state?: ContainerState }[]
    initContainerStatuses?: { name: string; state?: ContainerState }[]
  }
}

export function findTrueCondition(
  conditions: ObjectCondition[] | undefined,
  type: string,
): ObjectCondition | undefined {
  return conditions?.find((condition) => condition.type === type && condition.status === 'True')
}

/** Of a Job: the queue that admits it (https://kueue.sigs.k8s.io/docs/tasks/run/jobs/). */
export const queueLabel = 'kueue.x-k8s.io/queue-name'

export const podLabels = {
  /** The installation of the service that it belongs to; the watches select by it. */
  instance: 'svc.ai/instance',
  component: 'svc.ai/component',
  /** The name of the task. */
  task: 'svc.ai/task',
  taskUid: 'svc.ai/task-uid',
  attempt: 'svc.ai/attempt',
  /** `gate`: it reaches the service and its gate alone. */
  network: 'svc.ai/network',
} as const

export const podAnnotations = {
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
export const componentSelector = `${podLabels.component} in (worker,command,sealed)`

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

const maxNameLength = 63

/** `<task>-job-<uid8>-<attempt>`, at most 63 characters, because it is also a label value. */
export function nameJob(taskName: string, { taskUid, attempt }: AttemptKey): string {
  const ending = `-job-${taskUid.slice(0, 8)}-${attempt}`
  const head = trimTrailing(taskName.slice(0, maxNameLength - ending.length), '-.')
  return `${head}${ending}`
}

export function labelAttempt(instance: string, component: Component, key: AttemptKey): Record<string, string> {
  return {
    [podLabels.instance]: instance,
    [podLabels.component]: component,
    [podLabels.taskUid]: key.taskUid,
    [podLabels.attempt]: String(key.attempt),
  }
}

export type AttemptNames = Pick<WorkloadSpec, 'key' | 'namespace' | 'taskName'>

/** The attempt that a Job or pod belongs to, or undefined when its labels do not say. */
export function readAttempt(metadata: ObjectMetadata): AttemptNames | undefined {
  const taskUid = metadata.labels?.[podLabels.taskUid]
  const attempt = Number(metadata.labels?.[podLabels.attempt])
  const taskName = metadata.labels?.[podLabels.task]
  if (taskUid === undefined || taskName === undefined || !Number.isInteger(attempt) || attempt < 1) return undefined
  return { key: { taskUid, attempt }, namespace: metadata.namespace, taskName }
}
