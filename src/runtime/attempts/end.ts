// How a process and its attempt ended, and the sentence that describes it.
import { constants } from 'node:os'
import type { AdapterFailure, RunFailure, SharedLoss } from '../../contract/kinds/tasks/failures.ts'

export type ProcessExit = {
  code: number | null
  signal: string | null
  /** It never ran: the program or the sandbox could not be started. */
  startError?: string
}

/** What the kernel counted against a program's limits: processes killed for memory, forks refused. */
export type GroupEvents = { memoryKills: number; refusedForks: number }

// Reversed, so that of two names for one number (SIGABRT, SIGIOT) the first listed is kept.
const signalNames = new Map(
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
)

/** Shells and bubblewrap report 128+n for a program that signal n ended. */
export function readExit(code: number | null, signal: string | null): ProcessExit {
  const name = code !== null && code > 128 ? signalNames.get(code - 128) : undefined
  return name === undefined ? { code, signal } : { code: null, signal: name }
}

/** True when the sandbox itself failed before the program ran. */
export function isSandboxFailure(exit: ProcessExit, errorText: string): boolean {
  if (exit.startError !== undefined) return true
  return (exit.code === 1 && /^bwrap: /m.test(errorText)) || (exit.code === 126 && /cgroup\.procs/.test(errorText))
}

export type AttemptEnd =
  | { ok: true }
  /** `cause` is the worker's own reason for its failure. */
  | { ok: false; reason: AdapterFailure; cause?: RunFailure; message: string; exitCode?: number; loss?: SharedLoss }

export function describeMemory(memoryBytes: number | undefined): string {
  return memoryBytes === undefined
    ? 'its memory limit'
    : `its memory limit of ${Math.round(memoryBytes / 1024 ** 2)} MiB`
}

export type EndFacts = {
  exit: ProcessExit
  what: string
  errorTail: string
  outOfMemory: string | undefined
  /** What was wrong with its disk, from `Workspace.explainFull`. */
  outOfDisk?: string | undefined
}

function quoteTail(errorTail: string): string {
  const last = errorTail.trim().split('\n').at(-1) ?? ''
  return last === '' ? '' : `: ${last.slice(0, 500)}`
}

function describeDisk(what: string, cause: string, exitCode: { exitCode?: number }): AttemptEnd {
  const message = `${what} was ended: ${cause}. Write less, or raise resources.limits["ephemeral-storage"].`
  return { ok: false, reason: 'DiskFull', message, ...exitCode }
}

/** Describes the end of a process in a sentence: what ended, how, and its last output. */
export function describeProcessEnd(facts: EndFacts): AttemptEnd {
  const { exit, what } = facts
  if (exit.code === 0) return { ok: true }
  const exitCode = exit.code === null ? {} : { exitCode: exit.code }
  if (facts.outOfMemory !== undefined) {
    const message = `${what} used more than ${facts.outOfMemory}; raise the limit or give it less to hold.`
    return { ok: false, reason: 'OutOfMemory', message, ...exitCode }
  }
  const outOfDisk =
    facts.outOfDisk ?? (exit.signal === 'SIGXFSZ' ? 'it wrote a larger file than its workspace holds' : undefined)
  if (outOfDisk !== undefined) return describeDisk(what, outOfDisk, exitCode)
  const tail = quoteTail(facts.errorTail)
  if (exit.signal !== null)
    return { ok: false, reason: 'Signal', message: `${what} was ended by ${exit.signal}${tail}` }
  return { ok: false, reason: 'ExitCode', message: `${what} ended with exit code ${exit.code}${tail}`, ...exitCode }
}
