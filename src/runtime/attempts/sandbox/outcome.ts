// Watches the run of a command and reports its outcome, whatever it runs in.

import type { SandboxOutcome } from '../../../ports/workspaces/sandbox.ts'
import type { GroupEvents, ProcessExit } from '../exit.ts'
import type { CapturedOutput } from './captured-output.ts'

/** Where no control group counts, a program that reached its memory limit says so itself. */
const outOfMemoryWords = /JavaScript heap out of memory|^MemoryError|[Cc]annot allocate|bad_alloc/m

function findExceeded(exit: ProcessExit, events: GroupEvents, errorText: string): SandboxOutcome['exceeded'] {
  if (exit.code === 0) return undefined
  if (exit.signal === 'SIGXCPU') return 'cpu'
  if (exit.signal === 'SIGXFSZ') return 'disk'
  if (events.memoryKills > 0 || outOfMemoryWords.test(errorText)) return 'memory'
  return events.refusedForks > 0 || /[Cc]annot fork|fork: |Resource temporarily unavailable/.test(errorText)
    ? 'processes'
    : undefined
}

export type TimeLimit = { timedOut(): boolean; stop(): void }

/** Kills at the timeout or when the caller aborts. */
export function limitTime(timeoutMs: number, signal: AbortSignal, kill: () => void): TimeLimit {
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    kill()
  }, timeoutMs)
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  const stop = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
  }
  return { timedOut: () => timedOut, stop }
}

export type RunFacts = {
  exit: ProcessExit
  stdout: CapturedOutput
  stderr: CapturedOutput
  events: GroupEvents
  timedOut: boolean
  /** It was stopped because of what it wrote. */
  wasOverfull: boolean
}

export function composeOutcome({ exit, stdout, stderr, events, timedOut, wasOverfull }: RunFacts): SandboxOutcome {
  const found = wasOverfull ? 'disk' : findExceeded(exit, events, stderr.text)
  const exceeded = timedOut ? undefined : found
  return {
    exitCode: exit.code,
    signal: exit.signal,
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    timedOut,
    exceeded,
  }
}
