// Where untrusted code runs: one command without a network, a program that is talked to, and scratch folders.
import type { Readable, Writable } from 'node:stream'

export type ProgramStart = {
  /** The program, as an absolute path, and its arguments. */
  argv: string[]
  /** Absolute path, where it begins. */
  folder: string
  /** Absolute path. It writes only here, in `folder`, and in a /tmp that ends with it. */
  home: string
  /** All of its environment. */
  env: Record<string, string>
  /**
   * Present: it has no network, but these ports of its loopback, each with the Unix socket it leads to. A program that cannot be
   * kept apart is then not started.
   */
  ports?: Readonly<Record<number, string>>
  /** Folders and files that it reads, at their own paths. Absent: those of the package or folder that it lies in. */
  folders?: string[]
}

export type ProgramExit = {
  code: number | null
  signal: string | null
  /** It never ran. */
  startError?: string
}

export type RunningProgram = {
  stdin: Writable | undefined
  stdout: Readable
  stderr: Readable
  /** Resolves when nothing of it is left that could be ended, but for what may be left; never rejects. */
  exited: Promise<ProgramExit>
  /** SIGTERM to the program. */
  terminate(): Promise<void>
  /** SIGKILL to all of it. */
  kill(): Promise<void>
  /**
   * Where what it leaves running may go on: waits for its end, reads what it has printed, and lets go of the rest.
   * Absent: the rest is ended.
   */
  leave?(): Promise<void>
}

export interface Programs {
  /**
   * Why programs share the processes of their starter: then they can read its memory, and end it. Undefined: they
   * neither see nor reach it. Cached.
   */
  isolationGap(): Promise<string | undefined>
  /** A program that cannot be started ends with `startError`. */
  start(program: ProgramStart): Promise<RunningProgram>
}

export type ScratchLease = {
  /** The folder; valid until `release`, and never removed before. */
  folder: string
  /** Aborts when the folder exceeds its limit, or what the owner's other folders leave to it: stop writing. */
  full: AbortSignal
  /** Releases it. Idempotent. */
  release(): Promise<void>
}

export interface Scratch {
  /**
   * The folder of one conversation, created when missing: the same owner and parts give the same folder. It is removed
   * some time after its last lease was released. StorageFull when the disk has too little space left, and for an empty
   * folder when the owner's others use all that is allowed.
   */
  lease(owner: string, parts: readonly string[]): Promise<ScratchLease>
}

export type SandboxLimits = {
  timeoutMs: number
  memoryBytes: number
  cpuSeconds: number
  processes: number
  /** Limit for stdout and for stderr; the rest is dropped and flagged. */
  outputBytes: number
  /** Limit for everything written to the scratch folder, where it can be enforced. */
  diskBytes: number
}

/** A regular file; its path is relative to /workspace. */
export type WorkspaceFile = { path: string; bytes: Uint8Array }

/** What a run did to the files it was given. */
export type SandboxChanges = { written: WorkspaceFile[]; removed: string[] }

export type SandboxCommand = {
  /** Executable and arguments, looked up inside the sandbox. */
  argv: string[]
  /** Files to put into the scratch folder first, by relative name. */
  files?: Record<string, string>
  /** An existing folder to mount read-write as /workspace; absent: an empty scratch folder. */
  workspace?: string
  /**
   * Where no folder of this machine can be mounted (kind `pod`): the files to put into /workspace first; changed files
   * come back. Other kinds ignore it.
   */
  workspaceFiles?: WorkspaceFile[]
  env?: Record<string, string>
  /** Files outside the workspace, by absolute path, that the command can only read. */
  readOnlyFiles?: Record<string, string>
  stdin?: string
  /**
   * The caller, as `callerKey` writes it: capacity is shared fairly between callers. Absent: one caller for all such
   * runs.
   */
  caller?: string
  limits: SandboxLimits
}

export type SandboxOutcome = {
  exitCode: number | null
  signal: string | null
  stdout: string
  stderr: string
  stdoutTruncated: boolean
  stderrTruncated: boolean
  timedOut: boolean
  /** Which limit ended the run, if one did. */
  exceeded?: 'memory' | 'cpu' | 'processes' | 'disk'
  /** With `workspaceFiles`. */
  changes?: SandboxChanges
  /** Instead of `changes`: why the workspace is unchanged. */
  changesLost?: string
}

export type SandboxAvailability =
  | { available: true; kind: string; languages: string[] }
  | { available: false; reason: string; suggestion: string }

export interface Sandbox {
  /** Whether commands can run here, and if not, what to install (BUILT-016, BUILT-023). Cached. */
  check(): Promise<SandboxAvailability>
  /**
   * Runs to the end, the timeout or the abort; always stops the whole process tree. NotConfigured when unavailable;
   * Unavailable when no capacity was free within half of its timeout; the time it waited counts towards the timeout.
   */
  run(command: SandboxCommand, signal: AbortSignal): Promise<SandboxOutcome>
}
