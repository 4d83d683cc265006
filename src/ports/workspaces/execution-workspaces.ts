// Long-lived environments in which the workers of agent tasks run: sandboxes of a cluster, actors, folders of this machine.
import type { ResourceKey } from '../resources/resources.ts'
import type { GatedAttempt } from './network-gates.ts'

/** What is asked of a provider, and all that it needs to find again what it gave. */
export type WorkspaceClaim = ResourceKey & {
  /**
   * `name` is a DNS label made by a rule (`rules/execution-workspace.ts`): the same for all that may share the workspace.
   * Nobody else's claim has it. `namespace` is where the claim is made.
   */
  template: ResourceKey
  /** Actors only: it comes from this pool. */
  pool?: ResourceKey
  /** Actors only: started from scratch when it is first resumed. */
  boot?: boolean
  /** Agent program that it has to have; ignored where templates do not say which ones they have. */
  program?: string
  /** For people who inspect what there is; ignored where there is nothing to label. */
  labels: Record<string, string>
}

/** Why a workspace cannot be had, or is no more. */
export type WorkspaceFailure =
  | 'TemplateNotFound'
  | 'TemplateNotReady'
  | 'TemplateIncompatible'
  | 'PoolIncompatible'
  /** It was not ready in time. */
  | 'ClaimTimeout'
  /** It was there, and is gone or broken. */
  | 'WorkspaceLost'
  /** The provider does not answer. */
  | 'ProviderUnavailable'
  /** The provider, or what runs in the workspace, answers what nobody understands. */
  | 'ProtocolError'

/** A sentence for the status of the task goes with the reason. */
export class WorkspaceError extends Error {
  readonly reason: WorkspaceFailure

  constructor(reason: WorkspaceFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'WorkspaceError'
    this.reason = reason
  }
}

/** `of`: what is wrong, so that whoever chose it can choose another. */
export type WorkspaceProblem = { of: 'templateRef' | 'poolRef'; message: string }

export type WorkspaceState =
  | { phase: 'Absent' }
  | { phase: 'Pending'; message?: string }
  | { phase: 'Ready' }
  /** Its files are kept, and nothing of it runs. */
  | { phase: 'Suspended' }
  | { phase: 'Failed'; reason: WorkspaceFailure; message: string }

export type ReadyWorkspace = {
  /** Whether it was there before it was asked for. */
  reused: boolean
  /** Absolute path inside; staged paths are relative to it, and commands begin in it unless they say otherwise. */
  root: string
  /** The worker program as a command, where the template has that of this very service; absent: it has to be staged. */
  worker?: readonly string[]
  /** Name of the node or machine; never an id of the provider. */
  placement?: string
  /** How many workspaces share that node or machine. */
  density?: number
  /** How long the resumption took, when it was suspended. */
  resumeMs?: number
}

/** `path` is relative to the root, without `..`; folders above it are made (mode 0700). `mode` such as 0o600. */
export type StagedFile = { path: string; bytes: Uint8Array; mode: number }

export type WorkspaceCommand = {
  /** Chosen by the caller, [a-z0-9-]{1,63}: starting it twice starts it once. */
  id: string
  /** Program and arguments; the program is looked up in PATH. */
  command: string[]
  /** In addition to what every program inside has; shown to nobody else inside. */
  env: Record<string, string>
  /** Relative to the root, or absolute. Absent: the root. */
  workDir?: string
  stdin?: Uint8Array
  /** It is killed after that. */
  timeoutSeconds: number
  /** Of stdout and stderr each; what comes later is read and dropped. */
  maxOutputBytes: number
  /** Whether what it leaves running is to go on after its end, until it is stopped or scrubbed. Absent: it may end with it. */
  leavesPrograms?: boolean
  /**
   * Only on this machine: elsewhere the workspace as a whole is limited. Of a worker: what its program may reach, by a gate that it finds
   * as `gateSocketInside`; commands of people have the same afterwards, until a worker comes that says nothing. `none`: no network.
   */
  network?: GatedAttempt | 'none'
}

export type CommandState =
  /** Never started, or forgotten with the process that ran it. */
  | { phase: 'Missing' }
  | { phase: 'Running' }
  /** A command that a signal ended has exit code 128 + its number; one whose time was up 124. */
  | { phase: 'Ended'; exitCode: number; stdout: string; stderr: string; truncated: boolean }

/**
 * Every method may reject with WorkspaceError; with `WorkspaceLost` when the workspace is not there any more, and with
 * `ProviderUnavailable` when trying again later may help.
 */
export interface ExecutionWorkspaces {
  /**
   * Why a claim would be refused for good as things are now, for whoever makes the task; undefined when nothing is against
   * it, or it cannot be known. Absent: nothing is known before the claim.
   */
  findProblem?(
    claim: Pick<WorkspaceClaim, 'namespace' | 'template' | 'pool' | 'program'>,
  ): Promise<WorkspaceProblem | undefined>
  /** Makes the claim unless it exists; once it returns, the claim is recorded where `list` finds it. */
  claim(claim: WorkspaceClaim): Promise<void>
  observe(claim: WorkspaceClaim): Promise<WorkspaceState>
  /**
   * Resumes a suspended one. On the signal or the timeout: `ClaimTimeout`. It rolls nothing back: the caller deletes.
   */
  waitUntilReady(claim: WorkspaceClaim, options: { timeoutMs: number; signal: AbortSignal }): Promise<ReadyWorkspace>
  /**
   * Once it is ready: lets all that runs in it reach the service and its gate alone, as far as no policy of somebody else allows more; or
   * takes that back. It may be in force some time later. Absent: whoever provides workspaces limits them.
   */
  limitNetwork?(claim: WorkspaceClaim, isLimited: boolean): Promise<void>
  /** Replaces files that exist; a few MiB at a time. */
  stage(claim: WorkspaceClaim, files: readonly StagedFile[]): Promise<void>
  /** Starts it detached: it goes on when the service restarts, unless the workspace is of the service's own machine. */
  start(claim: WorkspaceClaim, command: WorkspaceCommand): Promise<void>
  observeCommand(claim: WorkspaceClaim, id: string): Promise<CommandState>
  /** TERM, then KILL; waits until nothing of it is left, nor of what it has left running. Idempotent. */
  stop(claim: WorkspaceClaim, id: string): Promise<void>
  /**
   * Removes these files and folders (relative to the root), and ends whatever the commands left running. `keepsPrograms`: that
   * goes on where the provider keeps it apart from the next worker, whose token it could read otherwise. Idempotent.
   */
  scrub(claim: WorkspaceClaim, paths: readonly string[], options?: { keepsPrograms?: boolean }): Promise<void>
  /** Keeps the files, frees the pod or actor. Idempotent. */
  suspend(claim: WorkspaceClaim): Promise<void>
  /** Returns once nothing of it is left that could be used. Idempotent. */
  delete(claim: WorkspaceClaim): Promise<void>
  /** All that this installation made, for the sweep of what nobody holds any more. */
  list(): AsyncIterable<ListedWorkspace>
}

export type ListedWorkspace = { claim: WorkspaceClaim; state: WorkspaceState; createdAt: Date }
