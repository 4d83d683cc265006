// One attempt in the workspace that it holds, and what the steps of its run share.
import type { WorkspaceProvider } from '../../contract/kinds/tasks/execution.ts'
import type { ExecutionWorkspaceStatus } from '../../contract/kinds/tasks/task.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { AttemptCheckout, WorkloadState } from '../../ports/tasks/workloads.ts'
import type { ExecutionWorkspaces } from '../../ports/workspaces/execution-workspaces.ts'
import type {
  WorkspaceFacts,
  WorkspaceHolder,
  WorkspaceKey,
  WorkspaceRecords,
} from '../../ports/workspaces/workspace-records.ts'
import type { CheckoutParts } from '../attempts/checkout-changes.ts'
import type { GateAddress } from '../jobs/network-guard.ts'
import type { PodGate } from '../jobs/pod-gate.ts'

export type WorkspaceStatusChange = Omit<ExecutionWorkspaceStatus, 'lastUpdateTime'>

export type WorkspaceGuard = {
  gate: Pick<PodGate, 'prepare'>
  /** Public addresses that no workspace with a gate may reach, for all that it is told of them. */
  listOutside(): Promise<GateAddress[]>
}

export type WorkspaceWorkloadsOptions = {
  providers: Partial<Record<WorkspaceProvider, ExecutionWorkspaces>>
  /** Not enabled any more: they serve to end what is left of them, and nothing else. */
  retired?: Partial<Record<WorkspaceProvider, ExecutionWorkspaces>>
  records: WorkspaceRecords
  clock: Clock
  ids: Ids
  /** Workspaces of one namespace at a time; 0: no limit. */
  quota: number
  /** True when what runs in workspaces ends with this process; else it goes on, and is found again. */
  endsOnClose: boolean
  /** Of workspaces on a cluster; absent: nothing is known of their network, or this machine limits it. */
  guard?: WorkspaceGuard | undefined
  /** The worker program as an archive (.tar.gz) with `worker.js` at its top, for templates that do not have it. */
  readBundle(): Promise<{ version: string; archive: Uint8Array }>
  /** Shows in the status of the task how its workspace is. Never rejects. */
  report(holder: WorkspaceHolder, change: WorkspaceStatusChange): Promise<void>
  /** Takes lines for the log of the attempt. */
  onLog(holder: WorkspaceHolder, lines: string[]): Promise<void> | void
  /** The secrets of an attempt that an earlier process began. Undefined: its task is gone. */
  findSecrets(holder: WorkspaceHolder): Promise<readonly string[] | undefined>
  checkouts: CheckoutParts & {
    /** What an attempt works in that an earlier process began. Undefined: its task names no repository any more. */
    find(holder: WorkspaceHolder): Promise<AttemptCheckout | undefined>
    /** Holds the private side of checkouts while their attempts run. */
    folder: string
  }
}

/** `own`: tokens that are of no use once the attempt has ended; `given`: what is still good for something then. */
export type AttemptSecrets = { own: readonly string[]; lasting: readonly string[] }

/** An attempt that runs, or has ended and is not forgotten yet. */
export type WorkspaceAttempt = {
  holder: WorkspaceHolder
  key: WorkspaceKey
  workspaces: ExecutionWorkspaces
  facts: WorkspaceFacts
  /** What must not be found in the workspace once the attempt has ended; undefined: an earlier process knew it. */
  secrets: AttemptSecrets | undefined
  state: WorkloadState
  /** Why it was told to end. */
  stop: Extract<WorkloadState, { phase: 'Failed' }> | undefined
  stopping: AbortController
  /** This process does nothing about it any more. */
  isDetached: boolean
  finished: Promise<void>
}

export async function noteFacts(
  { records }: WorkspaceWorkloadsOptions,
  attempt: WorkspaceAttempt,
  facts: Partial<WorkspaceFacts>,
  step?: 'running',
): Promise<void> {
  Object.assign(attempt.facts, facts)
  await records.note(attempt.key, attempt.holder, { facts, ...(step && { step }) })
}
