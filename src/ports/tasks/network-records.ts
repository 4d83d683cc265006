// What the programs of tasks reached and were refused, host by host. The numbers of a host only rise, whichever replicas count.
import type { HostTraffic } from '../workspaces/network-gates.ts'
import type { AttemptKey } from './workloads.ts'

export type HostRecord = HostTraffic & {
  /** When it was first and last heard of, in RFC 3339. */
  firstAt: string
  lastAt: string
}

export interface NetworkRecords {
  /** Adds to what there is of each host in the attempt; repeating it counts twice. All of it, or on a rejection nothing. */
  add(key: AttemptKey, hosts: readonly HostRecord[]): Promise<void>
  /** By attempt, and then by host and port; of one attempt where it is named. */
  list(query: { taskUid: string; attempt?: number }): Promise<(HostRecord & { attempt: number })[]>
  removeTask(taskUid: string): Promise<void>
}
