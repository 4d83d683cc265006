// What became of the run of an agent program.
import { stripVTControlCharacters } from 'node:util'
import type { AgentEvent } from '../../agents/agent-runtime.ts'
import type { ProgramExit } from '../../ports/workspaces/sandbox.ts'
import { describeRefusal, type Refusal } from './refusal.ts'

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
} & ({ ok: true; result: string } | Failure)

type Failure = {
  ok: false
  reason: AgentFailure
  message: string
  /** What a program that told no result printed last, as plain lines. */
  lastLines?: string[]
}

/**
 * What is left of a program that has ended: its errors, else what it printed that is no event; how another one is installed; and
 * what its last model call was refused with.
 */
export type Remains = { words: string; install: string; refusal?: Refusal | undefined }

export const fail = (reason: AgentFailure, message: string): Failure => ({ ok: false, reason, message })

export type Judge = {
  hear(event: AgentEvent): void
  decide(failure: Failure): void
  isDecided(): boolean
  conclude(exit: ProgramExit, remains: Remains): AgentEnd
}

const heapWords = /JavaScript heap out of memory|Cannot allocate memory|memory allocation of \d+ bytes failed/i

/** A sandbox reports 128 and the number of the signal. */
function wasKilled({ code, signal }: ProgramExit): boolean {
  return signal === 'SIGKILL' || code === 137
}

const maxQuoteLength = 2000
const maxLastLines = 20
const maxLineLength = 500

/** Without what a terminal would have done with them. */
function readLines(text: string): string[] {
  const lines = stripVTControlCharacters(text).split(/[\r\n]+/)
  return lines.map((line) => line.replace(/\p{Cc}+/gu, ' ').trimEnd()).filter((line) => line !== '')
}

/** What programs of Node, Python and others that crash print before or after the locations in their code. */
const errorLine = /^\s*(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^:]{0,200}: |^(?:fatal|panic|error)\b/i

/** What a program that crashed says of it, in a line or a few. */
export function quoteError(errorTail: string): string {
  const lines = readLines(errorTail)
  const words = lines.findLast((line) => errorLine.test(line)) ?? lines.slice(-3).join(' ')
  return words.trim().slice(-maxQuoteLength)
}

const unknownOption = /unknown (?:option|argument|flag)|unexpected argument|unrecognized (?:option|argument)/i
const oldNode = /does not provide an export named|SyntaxError: Unexpected|requires? Node|Unsupported engine/i

/** What whoever owns the service can do. */
function adviseOn({ words, install }: Remains): string {
  if (unknownOption.test(words))
    return `It is of a version that does not know how it is started here; install another with: ${install}`
  if (oldNode.test(words)) return 'It needs a newer Node; install one where the service runs.'
  return words === '' ? 'Try it by hand where the service runs.' : 'The log of the task has its last lines.'
}

/** The end of a program that reported no result. */
function explainSilence(exit: ProgramExit, remains: Remains): Failure {
  const { code, signal, startError } = exit
  const { words } = remains
  if (startError !== undefined) return fail('StartFailed', `The program could not be started: ${startError}`)
  if (wasKilled(exit)) return fail('Killed', 'The program was killed by the system, as happens when memory runs out.')
  if (heapWords.test(words)) return fail('Killed', 'The program ran out of memory.')
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`
  const quoted = quoteError(words).replace(/[.:]$/, '')
  const message = `The program ended ${how} and told no result${quoted === '' ? '' : `: ${quoted}`}.`
  const lastLines = readLines(words)
    .slice(-maxLastLines)
    .map((line) => line.slice(-maxLineLength))
  return { ...fail('NoResult', `${message} ${adviseOn(remains)}`), lastLines }
}

/** Programs wrap, quote and indent what they were answered. */
const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase()

/** A program may show its own words where a vendor has said why. */
function addRefusal(failure: Failure, { refusal }: Remains): Failure {
  const { reason, message } = failure
  if (refusal === undefined || (reason !== 'AgentFailed' && reason !== 'NoResult')) return failure
  if (lettersOf(message).includes(lettersOf(refusal.message))) return failure
  const words = describeRefusal({ ...refusal, message: refusal.message.slice(0, maxQuoteLength) })
  const ended = /[.!?]$/.test(message) ? message : `${message}.`
  return { ...failure, message: `${ended} Its last model call was refused with ${words}` }
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
    conclude(exit, remains) {
      const known = { turns, ...(sessionId === undefined ? {} : { sessionId }) }
      if (failure === undefined && result !== undefined) return { ok: true, result, ...known }
      return { ...addRefusal(failure ?? explainSilence(exit, remains), remains), ...known }
    },
  }
}
