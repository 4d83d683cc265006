// Runs one untrusted command: no network, read-only root, a scratch folder of its own, hard limits.

export type SandboxLimits = {
  timeoutMs: number
  memoryBytes: number
  cpuSeconds: number
  processes: number
  /** Of stdout and of stderr each; the rest is dropped and flagged. */
  outputBytes: number
  /** Of everything written to the scratch folder, where it can be enforced. */
  diskBytes: number
}

/** A regular file, by its path below /workspace. */
export type WorkspaceFile = { path: string; bytes: Uint8Array }

/** What a run did to the files that it was given. */
export type WorkspaceChanges = { written: WorkspaceFile[]; removed: string[] }

export type SandboxCommand = {
  /** Executable and arguments, looked up inside the sandbox. */
  argv: string[]
  /** Files put into the scratch folder first, by relative name. */
  files?: Record<string, string>
  /** An existing folder to mount read-write as /workspace; absent: an empty scratch folder. */
  workspace?: string
  /**
   * Where no folder of this machine can be mounted (kind `pod`): what is put into /workspace first; what changed comes
   * back. Other kinds do not look at it.
   */
  workspaceFiles?: WorkspaceFile[]
  env?: Record<string, string>
  /** Files beside the workspace, by absolute path, that the command can only read. */
  readOnlyFiles?: Record<string, string>
  stdin?: string
  /** Whoever it runs for, as `callerKey` writes it: places are shared fairly between them. Absent: one caller of all such. */
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
  /** Which limit ended it, when one did. */
  exceeded?: 'memory' | 'cpu' | 'processes' | 'disk'
  /** With `workspaceFiles`. */
  changes?: WorkspaceChanges
  /** Instead of `changes`: why the workspace stays as it was. */
  changesLost?: string
}

export type SandboxAvailability =
  | { available: true; kind: string; languages: string[] }
  | { available: false; reason: string; suggestion: string }

export interface Sandbox {
  /** Whether commands can run here, and if not, what to install (BUILT-016, BUILT-023). Cached. */
  check(): Promise<SandboxAvailability>
  /**
   * Runs to the end, the timeout or the abort; always reaps the whole process tree. NotConfigured when unavailable;
   * Unavailable when it got no place within half of its timeout, of which the time it waited is taken.
   */
  run(command: SandboxCommand, signal: AbortSignal): Promise<SandboxOutcome>
}
