// The limits of chat (specification: Limits).

export type ChatSettings = {
  enabled: boolean
  /** Empty: the Provider named `default`. */
  provider: string
  /** The model when nothing else names one; empty: none. */
  model: string
  maxIterations: number
  /** Tool calls in one model answer. */
  maxToolCalls: number
  maxDurationMs: number
  toolTimeoutMs: number
  /** Concurrent turns on this replica. */
  maxConcurrent: number
  /** Absent: as many as there may be. */
  maxConcurrentPerNamespace?: number
  maxConcurrentPerCaller?: number
  maxTasksPerTurn: number
  maxSessionBytes: number
  /** Namespaces of the cluster and of the service itself (MODE-018). */
  blockedNamespaces: readonly string[]
}

export const defaultChatSettings: ChatSettings = {
  enabled: true,
  provider: '',
  model: '',
  maxIterations: 50,
  maxToolCalls: 128,
  maxDurationMs: 1_800_000,
  toolTimeoutMs: 60_000,
  maxConcurrent: 10,
  maxTasksPerTurn: 5,
  maxSessionBytes: 512_000,
  blockedNamespaces: ['svc-system', 'kube-system', 'kube-public', 'kube-node-lease'],
}
