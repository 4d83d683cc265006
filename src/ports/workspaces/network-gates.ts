// The one way out of a sandbox without a network: a gate for each attempt, which judges every connection.
import type { Duplex } from 'node:stream'
import type { NetworkRules } from '../../contract/kinds/tasks/network.ts'
import type { AttemptKey } from '../tasks/workloads.ts'

/** What became of a connection. `bytes` in both directions. */
export type HostTraffic = {
  host: string
  port: number
  connections: number
  refused: number
  /** How many of these were refused because the list does not have the host, and nobody has said no. */
  unlisted: number
  sent: number
  received: number
  /** Why the last one was refused. */
  reason?: string
}

export type GatedAttempt = {
  key: AttemptKey
  namespace: string
  taskName: string
  rules: NetworkRules
}

export type NetworkGate = {
  /** A Unix socket of this machine that takes CONNECT and requests for whole addresses, as proxies do; alone in its folder. */
  socket: string
  /** Takes a connection of the attempt as if it had come to the socket. */
  accept(client: Duplex): void
  /** Ends its connections and reports the last of them. Idempotent. */
  close(): Promise<void>
}

export interface NetworkGates {
  /** Whoever reaches the socket counts as the attempt, so nothing else may see it. */
  open(attempt: GatedAttempt): Promise<NetworkGate>
}
