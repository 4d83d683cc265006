import type { TaskSettings } from '../controllers/task/settings.ts'
import type { MetricSources } from '../observability/metrics.ts'
import type { Ports } from '../ports/index.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { RecordOwners } from '../ports/retention.ts'
import type { Listening } from '../service/addresses.ts'
import type { OwnerToken } from './owner-token.ts'

/** The ports, and what only the composition root needs beyond them. */
export type OpenedMode = {
  ports: Ports
  owners: RecordOwners
  /** Removes bodies that a crash left without a row; how many. */
  sweepBodies(): Promise<number>
  /** Removes attempts that no task has any more; how many. Absent: there can be none. */
  sweepWorkloads?(signal: AbortSignal): Promise<number>
  /** Key of the hashes of idempotency keys; the same over restarts and replicas. */
  idempotencyKey: Uint8Array
  metrics: MetricSources
  /** Absent where others say who may do what. */
  owner?: OwnerToken
  /** The Secret that stands for the environment's keys. */
  ownerSecret?: ResourceKey
  allowDemoProvider: boolean
  /** Namespace that the service itself runs in, where it has one. */
  ownNamespace?: string
  /** Where workers reach the service; absent: where it listens. */
  workerApiUrl?: string
  /** Names that others know the service by, beside the address it listens on. */
  serviceNames: readonly string[]
  /** Port that others find it at under those names, and names under which each replica is found by itself. */
  servicePort?: number
  replicaNames?: readonly string[]
  /** A listener for metrics alone, without credentials; absent: they are read with a token where all else is. */
  metricsListener?: Listening
  /** How many runs of code it has places for. */
  sandboxes: number
  taskSettings: Partial<TaskSettings>
  /** Whether what runs has nodes and classes to be placed by. */
  hasCluster: boolean
  /** What is made once the service listens. */
  prepare?(): Promise<void>
}
