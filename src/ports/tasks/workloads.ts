// Where attempts of tasks run: local processes, containers, Kubernetes Jobs.
import type { WorkAssignment } from '../../contract/api/tasks/assignment.ts'
import type { ResolvedWorkspace } from '../../contract/api/workspaces/execution-workspaces.ts'
import type { AttemptIsolation, Execution } from '../../contract/kinds/tasks/execution.ts'
import type { AdapterFailure, RunFailure, SharedLoss } from '../../contract/kinds/tasks/failures.ts'
import type { NetworkRules, NetworkSource } from '../../contract/kinds/tasks/network.ts'
import type { blockedReasons } from '../../contract/kinds/tasks/task.ts'
import type { ResourceKey } from '../resources/resources.ts'
import type { CheckoutDiff, CheckoutSpec } from '../workspaces/checkouts.ts'

/** One attempt of one task. */
export type AttemptKey = { taskUid: string; attempt: number }

export type WorkloadLimits = {
  /** CPU cores. */
  cpu?: number
  memoryBytes?: number
  /** Size of its workspace; absent: the service's setting. */
  diskBytes?: number
  /** Files, folders and links in it; absent: the service's setting. A cluster limits bytes only. */
  diskFiles?: number
  /** What a scheduler reserves for it, where there is one; absent: the usual minimum. */
  requests?: { cpu?: number; memoryBytes?: number; diskBytes?: number }
  /** Other resources of a cluster (`nvidia.com/gpu`), as quantities by name. */
  extended?: { requests: Record<string, string>; limits: Record<string, string> }
  /** Seconds from start to the forced end; the controller also watches the clock. */
  deadlineSeconds?: number
}

export type WorkloadRun =
  /** The worker program (ai and agent tasks); the assignment carries the attempt's token and secrets. */
  | {
      kind: 'worker'
      assignment: WorkAssignment
      /** On a cluster: the image that has the agent program and the worker. */
      agentImage?: string
    }
  /**
   * A user's command, in an image or, without one, in a local sandbox. Its output is captured as the task's logs;
   * `redact` holds values of secrets in `env`, which are removed from it (SECRET-008).
   */
  | {
      kind: 'command'
      image?: string
      command: string[]
      args: string[]
      env: Record<string, string>
      redact?: string[]
      /** Absent: the machine's. */
      network?: 'none'
      /**
       * The folder, as the command sees it, whose files are kept. It is created for the command; SVC_ARTIFACTS_DIR
       * holds its path.
       */
      artifactsDir?: string
      /** The task's own context token, in a private file whose path SVC_TRANSACTION_TOKEN_FILE holds. */
      transactionToken?: string
    }

/** A Secret as a folder of read-only files, one per entry. */
export type MountedSecret = ResourceKey & {
  /** Absolute, as the workload sees it. */
  folder: string
  entries: Record<string, string>
}

/** A git repository that is checked out into the attempt's folder before it begins. */
export type AttemptCheckout = {
  spec: CheckoutSpec
  /** Message of the commit that holds the changes, if there are any. */
  message: string
}

/** What an attempt changed in its checkout. */
export type CheckoutChanges = {
  baseSHA: string
  branch?: string
  diff: CheckoutDiff
  /** Absent: nothing was changed. */
  headSHA?: string
  pushBranch?: string
  /** Why the commit is not on the branch it was to be pushed to. */
  pushError?: string
}

/** Where on a cluster it may run, in the terms of a pod spec. */
export type Placement = Omit<Execution, 'workspace' | 'isolation'>

export type WorkloadSpec = {
  key: AttemptKey
  namespace: string
  taskName: string
  run: WorkloadRun
  limits: WorkloadLimits
  /** Only where `checkouts` is true. */
  checkout?: AttemptCheckout
  /** For a command; a worker finds its own in the assignment. */
  secrets?: MountedSecret[]
  /** What programs may reach; absent: the network of the machine or pod. */
  network?: { rules: NetworkRules; from: NetworkSource }
  /** For a worker: it runs in this execution workspace. */
  workspace?: ResolvedWorkspace
  /** Whether it may share a process with other attempts; absent: processes are not shared. */
  isolation?: AttemptIsolation
  /** Only a cluster uses it. */
  placement?: Placement
  /** The task's priority, 0 to 1000; an external scheduler may take it into account. */
  priority?: number
  /** Labels of the task, for people who inspect what runs; ignored where there is nothing to label. */
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

export type WorkloadState =
  | { phase: 'Pending'; reason?: PendingReason; message?: string }
  | { phase: 'Running'; startedAt: Date }
  | { phase: 'Succeeded'; startedAt: Date; finishedAt: Date; output?: CommandOutput }
  | {
      phase: 'Failed'
      reason: AdapterFailure
      /** The cause as the worker itself reported it, if it did. */
      cause?: RunFailure
      message: string
      exitCode?: number
      loss?: SharedLoss
      startedAt?: Date
      finishedAt: Date
      output?: CommandOutput
    }
  /** Nothing is known of it: never started here, or lost with the process or node that held it. */
  | { phase: 'Missing' }

/** Why it cannot start yet; absent while it takes the usual steps. */
export type PendingReason = (typeof blockedReasons)[number]

/** What a command wrote, for the task's result (the last 5 MiB of stdout; `truncated` when it wrote more). */
export type CommandOutput = { text: string; truncated: boolean }

export interface Workloads {
  /**
   * Starts the attempt unless it exists already; returns once it is recorded, not once it runs. Unavailable when full.
   */
  ensure(spec: WorkloadSpec): Promise<void>
  /** The current state; kept after the end until `remove`. */
  observe(key: AttemptKey): Promise<WorkloadState>
  /**
   * The files in a command's artifact folder, while it runs or after its end; nothing for other workloads or a missing
   * folder. Read each file before requesting the next. Rejects with Unavailable when the host of the workload does not
   * answer.
   */
  readLeftFiles(key: AttemptKey): AsyncIterable<LeftFile>
  /**
   * Stops it if it runs (TERM, then KILL after the grace period), waits until nothing of it is left, forgets it.
   * Idempotent.
   */
  remove(key: AttemptKey): Promise<void>
  /** Calls back on every state change with the task's uid and name; returns the unsubscribe function. */
  onChange(listener: (change: { key: AttemptKey; namespace: string; taskName: string }) => void): () => void
  /**
   * How many more attempts can start now that share a process, or have one of their own (default); Infinity when an external
   * scheduler decides.
   */
  capacity(mode?: AttemptIsolation['mode']): number
  /** Stops everything and releases what it holds. */
  close(): Promise<void>
}

/**
 * Why a file is not kept, or how to read it; `open` reads from its start, and works until the next file is requested.
 */
export type LeftFile = { name: string } & ({ skipped: string } | { size: number; open(): AsyncIterable<Uint8Array> })

/**
 * The files in the folder `path` below `root` and in its folders, by path with `/`; none when it does not exist or is not a folder.
 * Never follows links, even if one appears while it reads. Keeps only regular files with a valid name, of at most 10 MiB each
 * and 50 MiB in total; looks at no more than 1000 entries.
 */
export type ReadLeftFiles = (root: string, path: string) => AsyncIterable<LeftFile>

/**
 * The files in all folders below `root`, by path with `/`; looks at no more than 10,000 entries and follows no links.
 * Folders that tools can recreate (`isPassedOver`), and entries that are not files of at most 10 MiB, come with the
 * reason.
 */
export type ReadWorkspaceFiles = (root: string) => AsyncIterable<LeftFile>
