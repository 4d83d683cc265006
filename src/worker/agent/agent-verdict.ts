// What became of the run of an agent program.
import type { AgentEvent } from '../../agents/agent-runtime.ts'
import type { ProgramExit } from '../../ports/workspaces/sandbox.ts'

export type AgentFailure =
  /** It is not installed. */
  | 'ProgramMissing'
  | 'StartFailed'
  | 'TurnLimit'
  /** It ended by itself and reported no result. */
  | 'NoResult'
  /** It said that it failed. */
  | 'AgentFailed'
  | 'TooMuchOutput'
  /** By the system, or for want of memory. */
  | 'Killed'
  /** From outside, by the signal. */
  | 'Stopped'
  /** It asks a person, who has not answered yet. */
  | 'Parked'

export type AgentEnd = {
  /** Absent: it reported none. */
  sessionId?: string
  turns: number
} & ({ ok: true; result: string } | { ok: false; reason: AgentFailure; message: string })

type Failure = { ok: false; reason: AgentFailure; message: string }

export const fail = (reason: AgentFailure, message: string): Failure => ({ ok: false, reason, message })

export type Judge = {
  hear(event: AgentEvent): void
  decide(failure: Failure): void
  isDecided(): boolean
  conclude(exit: ProgramExit, errorTail: string): AgentEnd
}

const heapWords = /JavaScript heap out of memory|Cannot allocate memory|memory allocation of \d+ bytes failed/i

/** A sandbox reports 128 and the number of the signal. */
function wasKilled({ code, signal }: ProgramExit): boolean {
  return signal === 'SIGKILL' || code === 137
}

const maxQuoteLength = 2000

/** What programs of Node, Python and others that crash print before or after the locations in their code. */
const errorLine = /^\s*(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]*: |^(?:fatal|panic|error)\b/i

/** What a program that crashed says of it, in a line or a few. */
export function quoteError(errorTail: string): string {
  const lines = errorTail.trim().split('\n')
  const words = lines.findLast((line) => errorLine.test(line)) ?? lines.slice(-3).join(' ')
  return words.trim().slice(-maxQuoteLength)
}

/** The end of a program that reported no result. */
function explainSilence(exit: ProgramExit, errorTail: string): Failure {
  const { code, signal, startError } = exit
  if (startError !== undefined) return fail('StartFailed', `The program could not be started: ${startError}`)
  if (wasKilled(exit)) return fail('Killed', 'The program was killed by the system, as happens when memory runs out.')
  if (heapWords.test(errorTail)) return fail('Killed', 'The program ran out of memory.')
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`
  const words = quoteError(errorTail)
  return fail('NoResult', `The program ended ${how} and told no result${words === '' ? '.' : `: ${words}`}`)
}

/** The first failure counts. Whatever comes after a result does not undo it. */
export function createJudge(maxTurns: number, emit: (event: AgentEvent) => void): Judge {
  let sessionId: string | undefined
  let turns = 0
  let result: string | undefined
  let failure: Failure | undefined
  const decide = (next: Failure) => {
    if (result === undefined) failure ??= next
  }
  const turnLimit = fail('TurnLimit', `The agent reached its limit of ${maxTurns} turns without a result.`)

  function note(event: AgentEvent): void {
    switch (event.type) {
      case 'session':
        sessionId = event.id
        break
      case 'turn':
        turns += 1
        break
      case 'result':
        result = event.text
        break
      case 'failed':
        decide(event.reason === 'turns' ? turnLimit : fail('AgentFailed', event.message))
    }
  }

  function hear(event: AgentEvent): void {
    if (event.type === 'turn' && turns === maxTurns) decide(turnLimit)
    if (failure !== undefined) return
    note(event)
    emit(event)
  }

  return {
    hear,
    decide,
    isDecided: () => failure !== undefined,
    conclude(exit, errorTail) {
      const known = { turns, ...(sessionId === undefined ? {} : { sessionId }) }
      if (failure !== undefined) return { ...failure, ...known }
      return result === undefined ? { ...explainSilence(exit, errorTail), ...known } : { ok: true, result, ...known }
    },
  }
}
