// Where attempts of tasks run: local processes, containers, Kubernetes Jobs.
import type { WorkAssignment } from '../contract/api/assignment.ts'
import type { PlaceFailure, RunFailure } from '../contract/failures.ts'
import type { Execution } from '../contract/resources/execution.ts'
import type { LeftFile } from './left-files.ts'
import type { ResourceKey } from './resources.ts'

/** One attempt of one task. */
export type AttemptKey = { taskUid: string; attempt: number }

export type WorkloadLimits = {
  /** CPU cores. */
  cpu?: number
  memoryBytes?: number
  /** Of its workspace; absent: what the service is set to. */
  diskBytes?: number
  /** What a scheduler sets aside for it, where there is one; absent: as little as usual. */
  requests?: { cpu?: number; memoryBytes?: number; diskBytes?: number }
  /** Of a cluster's other resources (`nvidia.com/gpu`), as quantities by name. */
  extended?: { requests: Record<string, string>; limits: Record<string, string> }
  /** Seconds from start to the forced end; the controller also watches the clock. */
  deadlineSeconds?: number
}

export type WorkloadRun =
  /** The worker program (ai and agent tasks); the assignment carries the attempt's token and secrets. */
  | { kind: 'worker'; assignment: WorkAssignment }
  /**
   * A user's command, in an image or, without one, in a local sandbox. Its output is captured as the task's logs;
   * `redact` holds values of secrets in `env`, to be cut from it (SECRET-008).
   */
  | {
      kind: 'command'
      image?: string
      command: string[]
      args: string[]
      env: Record<string, string>
      redact?: string[]
      /** Folder, as the command sees it, whose files are kept; it is made for it, and SVC_ARTIFACTS_DIR names it. */
      artifactsDir?: string
      /** The task's own context token: a private file, whose name SVC_TRANSACTION_TOKEN_FILE gives. */
      transactionToken?: string
    }

/** A Secret as a folder of read-only files, one for each entry. */
export type MountedSecret = ResourceKey & {
  /** Absolute, as the workload sees it. */
  folder: string
  entries: Record<string, string>
}

/** Where on a cluster it may run, in the words of a pod's spec. */
export type Placement = Omit<Execution, 'workspace'>

export type WorkloadSpec = {
  key: AttemptKey
  namespace: string
  taskName: string
  run: WorkloadRun
  limits: WorkloadLimits
  /** Of a command; a worker finds its own in the assignment. */
  secrets?: MountedSecret[]
  /** Nothing but a cluster looks at it. */
  placement?: Placement
  /** Of the task, 0 to 1000: where something else schedules, it may heed it. */
  priority?: number
  /** Of the task, for whoever looks at what runs; where the place has such things. */
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

export type WorkloadState =
  | { phase: 'Pending'; reason?: PendingReason; message?: string }
  | { phase: 'Running'; startedAt: Date }
  | { phase: 'Succeeded'; startedAt: Date; finishedAt: Date; output?: CommandOutput }
  | {
      phase: 'Failed'
      reason: PlaceFailure
      /** The worker's own word for the cause, when it gave one. */
      cause?: RunFailure
      message: string
      exitCode?: number
      startedAt?: Date
      finishedAt: Date
      output?: CommandOutput
    }
  /** Nothing is known of it: never started here, or lost with the process or node that held it. */
  | { phase: 'Missing' }

/** Why it cannot begin yet; absent while it takes its usual steps. */
export type PendingReason = 'Unschedulable' | 'NoPod' | 'ImageUnavailable' | 'StartFailed'

/** What a command wrote, for the task's result (last 5 MiB of stdout, `truncated` when more was written). */
export type CommandOutput = { text: string; truncated: boolean }

export interface Workloads {
  /** Starts the attempt unless it is there already; returns once it is recorded, not once it runs. Unavailable when full. */
  ensure(spec: WorkloadSpec): Promise<void>
  /** The present state; kept after the end until `remove`. */
  observe(key: AttemptKey): Promise<WorkloadState>
  /**
   * The files in the folder for artifacts of a command, while it runs or after its end; nothing for others and for what is
   * missing. Each is to be read before the next is asked for. Rejects with Unavailable when the place does not answer.
   */
  readLeftFiles(key: AttemptKey): AsyncIterable<LeftFile>
  /** Ends it if it runs (TERM, then KILL after the grace), waits until nothing of it is left, forgets it. Idempotent. */
  remove(key: AttemptKey): Promise<void>
  /** Calls back on every state change with the task's uid and name; returns the unsubscribe function. */
  onChange(listener: (change: { key: AttemptKey; namespace: string; taskName: string }) => void): () => void
  /** How many more attempts can start now; Infinity where something else schedules. */
  capacity(): number
  /** Stops everything and releases what it holds. */
  close(): Promise<void>
}
