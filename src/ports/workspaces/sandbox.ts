// Runs one untrusted command: no network, read-only root, a scratch folder of its own, hard limits.

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
export type WorkspaceChanges = { written: WorkspaceFile[]; removed: string[] }

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
  changes?: WorkspaceChanges
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
