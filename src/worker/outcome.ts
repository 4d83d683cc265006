// How a run ends, and how the program reports it: an answer to submit, or the cause in one sentence that tells the user what to do.
import { recordLimit, type UsageSubmit } from '../contract/api/tasks/internal.ts'
import type { ParkWait } from '../contract/api/tasks/parking.ts'
import type { RunFailure } from '../contract/kinds/tasks/failures.ts'
import { isSvcError, messageOf } from '../errors.ts'
import { headOfText } from '../lib/utf8.ts'
import type { FinishReason, LoopState } from '../llm/loop/loop-state.ts'
import type { ModelError } from '../llm/messages/messages.ts'
import { isSuperseded } from './api.ts'
import { isAway } from './retries.ts'

/** The last line on descriptor 3. */
export type AttemptOutcome = { ok: true } | { ok: false; reason: RunFailure; message: string }

/** The outcome of a run, and what is handed in with it. */
export type RunEnd = {
  outcome: AttemptOutcome
  /** Without secrets; only of one that is done. */
  result?: string
  /** Model calls that are not reported yet. */
  usage?: UsageSubmit[]
  /** What the task waits for, where the run parks. */
  waits?: ParkWait[]
}

export function failRun(reason: RunFailure, message: string): AttemptOutcome {
  return { ok: false, reason, message }
}

/** The artifact that keeps an answer which is not of the shape that was asked for. */
export const rejectedAnswerName = 'rejected-answer.txt'

/** `rejected`: what the model said instead of an answer of the shape that was asked for. */
type Ending = { answer: string } | { failure: AttemptOutcome; rejected?: string }

export function readAttemptEnd(state: LoopState): Ending {
  const { reason = 'error', problem } = state.finished ?? {}
  if (problem !== undefined) return rejectAnswer(state, problem)
  if (reason === 'answer' || reason === 'iterations') return readAnswer(state.text)
  if (reason === 'max_tokens') return readCutAnswer(state.text)
  if (reason === 'refusal') return fail('ModelRefused', `The model refused to go on${quote(state.text)}`)
  if (reason === 'deadline') return fail('DeadlineExceeded', `The time limit was reached after ${countTurns(state)}.`)
  if (reason === 'cancelled') return fail('Stopped', 'The run was stopped.')
  return failModel(state.finished?.error)
}

function fail(cause: RunFailure, message: string): Ending {
  return { failure: failRun(cause, message) }
}

function failModel(error: ModelError | undefined): Ending {
  if (error === undefined) return fail('Internal', 'The run ended without an answer and without a cause.')
  return fail(error.reason, error.message)
}

function countTurns(state: LoopState): string {
  return state.iteration === 1 ? '1 model call' : `${state.iteration} model calls`
}

function quote(text: string): string {
  return text.trim() === '' ? '; change the prompt or the model.' : `: ${text.trim().slice(0, 500)}`
}

function rejectAnswer({ finished, corrections = 0, text }: LoopState, problem: string): Ending {
  const [cause, what, advice] = explainRejection(finished?.reason, corrections)
  const note = text.trim() === '' ? '' : `; what it said is kept as ${rejectedAnswerName}`
  const detail = problem.replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, 500)
  return { failure: failRun(cause, `${what}: ${detail}${note}; ${advice}.`), rejected: text }
}

function explainRejection(reason: FinishReason | undefined, corrections: number): [RunFailure, string, string] {
  if (reason === 'max_tokens') return ['OutputLimit', 'The answer was cut before it was whole', 'raise maxTokens']
  if (reason === 'unchecked_output') {
    const advice = 'simplify the patterns of the schema, or what its parts have inside one another'
    return ['UncheckedOutput', 'The answer could not be compared with ai.outputSchema', advice]
  }
  const what = `The answer does not match ai.outputSchema after ${countCorrections(corrections)}`
  return ['InvalidOutput', what, 'change the prompt, the schema or the model']
}

function countCorrections(count: number): string {
  return count === 1 ? '1 correction' : `${count} corrections`
}

function readAnswer(text: string): Ending {
  if (text.trim() === '') return fail('EmptyAnswer', 'The model gave no answer; change the prompt or the model.')
  const note = '\n\n[The result was cut at 10 MiB.]'
  const head = headOfText(text, recordLimit - note.length)
  return { answer: head.dropped === 0 ? text : head.text + note }
}

function readCutAnswer(text: string): Ending {
  const advice = 'the model reached its output limit; raise maxTokens'
  if (text.trim() === '') return fail('OutputLimit', `There is no answer: ${advice}.`)
  return readAnswer(`${text}\n\n[The answer is cut: ${advice}.]`)
}

/** A run that threw: the worker API refused or was unreachable, or the worker itself failed. */
export function explainCrash(error: unknown, signal: AbortSignal): AttemptOutcome {
  if (signal.aborted) return failRun('Stopped', `The run was stopped: ${messageOf(signal.reason)}.`)
  if (isSuperseded(error)) return failRun('Superseded', `The service no longer takes this attempt: ${messageOf(error)}`)
  if (isAway(error)) return failRun('ServiceUnavailable', `The service was away for too long: ${messageOf(error)}`)
  if (isSvcError(error)) return failRun('Internal', `The service did not take the run's state: ${messageOf(error)}`)
  return failRun('Internal', `The worker broke: ${messageOf(error)}`)
}
