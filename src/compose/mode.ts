import { existsSync, readFileSync } from 'node:fs'
import type { Config } from '../config/load.ts'
import type { Sweep } from '../controllers/resources/sweep.ts'
import type { TaskSettings } from '../controllers/tasks/context.ts'
import { writePrivateFile } from '../launch/service-file.ts'
import { systemIds } from '../lib/system-clock.ts'
import type { MetricSources } from '../observability/metrics.ts'
import type { Ports } from '../ports/index.ts'
import type { ResourceKey } from '../ports/resources/resources.ts'
import type { RecordOwners } from '../ports/resources/retention.ts'
import type { AgentPrograms } from '../rules/agents/programs.ts'
import type { Listening } from '../service/addresses.ts'

export type OwnerToken = { text: string; isNew: boolean }

export function takeOwnerToken(config: Config): OwnerToken {
  if (config.bootstrapToken !== undefined) return { text: config.bootstrapToken, isNew: false }
  const { tokenFile } = config.paths
  if (existsSync(tokenFile)) return { text: readFileSync(tokenFile, 'utf8').trim(), isNew: false }
  const text = `svc_${systemIds.hex(64)}`
  writePrivateFile(tokenFile, `${text}\n`)
  return { text, isNew: true }
}

/** The ports, and what else the composition root needs. */
export type OpenedMode = {
  ports: Ports
  owners: RecordOwners
  /** What a crash or a full cache leaves, beside records that are old. */
  leftovers: readonly Sweep[]
  /** Removes attempts without a task; returns how many. Absent: there can be none. */
  sweepWorkloads?(signal: AbortSignal): Promise<number>
  /** Key for hashing idempotency keys; the same across restarts and replicas. */
  idempotencyKey: Uint8Array
  /** Sign the markers of reviews where no key is configured; the newest first. */
  markerKeys: readonly Uint8Array[]
  metrics: MetricSources
  /** Absent when another system decides permissions. */
  owner?: OwnerToken
  /** The Secret that represents the keys of the environment. */
  ownerSecret?: ResourceKey
  allowDemoProvider: boolean
  /** The service's own namespace, if it has one. */
  ownNamespace?: string
  /** Where workers reach the service; absent: where it listens. */
  workerApiUrl?: string
  /** Names of the service besides the address that it listens on. */
  serviceNames: readonly string[]
  /** The port at those names, and names by which each single replica is reached. */
  servicePort?: number
  /** The port of the gate of the network, at the same names. */
  gatePort?: number
  replicaNames?: readonly string[]
  /** A listener for metrics alone, without credentials; absent: metrics need a token, on the main listener. */
  metricsListener?: Listening
  /** How many concurrent runs of code it allows. */
  sandboxes: number
  taskSettings: Partial<TaskSettings>
  /** The agent programs of this machine; absent: agent tasks cannot run. */
  agentPrograms?: AgentPrograms
  /** Whether workloads can be placed on nodes. */
  hasCluster: boolean
  /** Told where the service itself is reached, before anything is dialled. */
  setOwnAddresses?(read: () => string[]): void
  /** What is created once the service listens. */
  prepare?(): Promise<void>
}
