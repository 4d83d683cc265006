// How a failed command reports it: the error, every problem, and what to do next.
import { CommanderError } from 'commander'
import { commandHint } from '../client/command-hint.ts'
import { isSvcError, type SvcError } from '../errors.ts'
import { describeUnforeseen } from '../lib/file-error.ts'
import type { Terminal } from './output/terminal.ts'

/** Exit codes; scripts may rely on them. The last one is what shells report for a program that Ctrl-C ended. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, unreachable: 3, cancelled: 4, interrupted: 130 } as const

/** Ends a command with a code after it has printed everything. */
export class ExitSignal extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

/** Prints the error and returns the exit code. */
export function reportFailure(error: unknown, terminal: Terminal): number {
  if (error instanceof ExitSignal) return error.code
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  terminal.note(`${terminal.colors.red('error:')} ${describeUnforeseen(error)}`)
  return isSvcError(error) ? explainReason(error, terminal) : exitCodes.failed
}

function explainReason(error: SvcError, terminal: Terminal): number {
  for (const line of listProblems(error)) terminal.note(`  ${line}`)
  if (error.reason === 'Unauthenticated') {
    terminal.note(
      `Give a token with --token or SVC_TOKEN; its owner creates one with \`${commandHint('token create NAME')}\`.`,
    )
  }
  return exitCodeOf(error)
}

export function exitCodeOf(error: unknown): number {
  if (isSvcError(error, 'Unavailable')) return exitCodes.unreachable
  return isSvcError(error, 'InvalidRequest') ? exitCodes.usage : exitCodes.failed
}

/** The problems of an error, unless the message already states the only one. */
export function listProblems({ details = [], message }: SvcError): string[] {
  const [first] = details
  if (details.length === 1 && first && message.includes(first.message)) return []
  return details.map((problem) => `${problem.path === '' ? '' : `${problem.path}: `}${problem.message}`)
}

/** Reports why one of several failed and returns the exit code; throws errors that would affect all the others. */
export function reportOneOf(error: unknown, label: string, terminal: Terminal): number {
  if (!isSvcError(error) || error.reason === 'Unavailable' || error.reason === 'Unauthenticated') throw error
  terminal.note(`${terminal.colors.red('error:')} ${label}: ${error.message}`)
  for (const problem of listProblems(error)) terminal.note(`  ${problem}`)
  return exitCodeOf(error)
}

/** One after the other; reports a failure and continues with the others. */
export async function doEachName(
  names: string[],
  terminal: Terminal,
  work: (name: string) => Promise<void>,
): Promise<void> {
  const [only, ...more] = names
  if (only !== undefined && more.length === 0) return work(only)
  let code: number = exitCodes.ok
  for (const name of names) {
    try {
      await work(name)
    } catch (error) {
      code = reportOneOf(error, name, terminal)
    }
  }
  if (code !== exitCodes.ok) throw new ExitSignal(code)
}
