// How a process ended.
import { constants } from 'node:os'

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
