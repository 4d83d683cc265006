// What the tool loop remembers: plain JSON, saved before each effect, sufficient to continue in another process.
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import { waitUnlessAborted } from '../../lib/abort.ts'
import {
  type ContentBlock,
  type Message,
  type ModelError,
  noUsage,
  type TextBlock,
  type TokenUsage,
} from '../messages/messages.ts'
import type { OutputCheck } from './output-check.ts'
import type { ToolCall, ToolResult } from './tool-host.ts'

/** After a crash `started` means that nobody knows whether it ran. */
export type PendingCall = ToolCall & {
  invalidArgs?: string
  repeatable: boolean
  external?: boolean
  /** `waiting`: it ran, and `wait` says what it waits for; it runs again when the run goes on. */
  state: 'planned' | 'started' | 'waiting' | 'done'
  result?: ToolResult
  wait?: ParkWait
}

export type FinishReason =
  /** Calls wait for something: the run goes on later, perhaps in another process. */
  | 'parked'
  /** The model answered without calling a tool. */
  | 'answer'
  /** The iteration limit is reached; the text is the final summary (LIM-014). */
  | 'iterations'
  | 'max_tokens'
  | 'refusal'
  /** The answer does not have the shape that was asked for, after the corrections too; `problem` says why. */
  | 'invalid_output'
  /** The answer could not be compared with that shape; `problem` says why. */
  | 'unchecked_output'
  /** The model called a tool that the caller runs: `pending` holds the unanswered calls. */
  | 'external_tools'
  /** The time limit is reached; the text is the progress made. */
  | 'deadline'
  | 'cancelled'
  | 'error'

export type LoopState = {
  version: 1
  system: TextBlock[]
  messages: Message[]
  /** Completed model turns. */
  iteration: number
  /** Iterations deducted from the limit for repeated calls. */
  penalty: number
  /** Model calls that were answered; retries belong to their call. */
  llmCalls: number
  usage: TokenUsage
  /** How often each call (name and canonical arguments) was made. */
  repetitions: Record<string, number>
  /** Calls of the last turn, in call order; empty between turns. */
  pending: PendingCall[]
  /** Tools of the last turn that were called too often with the same arguments. */
  repeated: string[]
  /** The iteration for which a prompt was added, so that a resumed run does not add it again. */
  promptedAt?: number
  /** The iteration that asks again after a blank answer. */
  blankAt?: number
  /** The iteration whose call was already retried with a shorter conversation. */
  truncatedAt?: number
  /** Number of the last message that is in the conversation. */
  mailbox?: number
  /** How often the model was told that its answer does not have the shape that was asked for. */
  corrections?: number
  /** How often the current iteration's call was retried after its stream broke. */
  interruptions: number
  finished?: { reason: FinishReason; error?: ModelError; closing?: string; problem?: string }
  /** The answer, or the progress made so far. */
  text: string
}

export type LoopLimits = {
  /** The most model calls; the last of them is the summary call without tools. Default 50. */
  maxIterations?: number
  /** Time limit of one tool call; a tool's own limit can only be shorter. Default 60 s. */
  toolTimeoutMs?: number
  /** Lets a tool's own limit be longer too: what the tool calls ends it, and says why. Default false. */
  trustsToolTimeouts?: boolean
  /** The most bytes of one tool's output. Default 65,536. */
  maxOutputBytes?: number
  /** Concurrent calls of one turn. Default 8. */
  maxParallelTools?: number
  /** The most calls of one turn that run; the model is told that the others did not. Default 128. */
  maxToolCalls?: number
  /** Before each call the conversation is truncated to this many estimated tokens. Default: never. */
  maxContextTokens?: number
  /** Asks for a progress summary after every so many iterations (CHAT-041). Default: never. */
  progressEvery?: number
  /** How often a call whose stream broke is repeated. Default 0: what was streamed cannot be taken back. */
  maxInterruptions?: number
  /** Asks once more, without tools, when the answer is blank. Default false. */
  retryBlankAnswer?: boolean
  /** What counts as an answer: the model is told why another one does not, twice at most. Default: any text. */
  checkOutput?: OutputCheck
  /** When the run must end with what it has. */
  deadline?: Date
}

export const defaultLimits = {
  maxIterations: 50,
  toolTimeoutMs: 60_000,
  maxOutputBytes: 65_536,
  maxParallelTools: 8,
  maxToolCalls: 128,
} as const

export type LoopStart = {
  system?: string | TextBlock[]
  /** The conversation so far; its last message is the user's. */
  messages: Message[]
}

/** The state of a run that has not started. */
export function createLoopState(start: LoopStart): LoopState {
  const system = typeof start.system === 'string' ? textBlocks(start.system) : (start.system ?? [])
  return {
    version: 1,
    system,
    messages: start.messages,
    iteration: 0,
    penalty: 0,
    llmCalls: 0,
    usage: noUsage,
    repetitions: {},
    pending: [],
    repeated: [],
    interruptions: 0,
    text: '',
  }
}

function textBlocks(text: string): TextBlock[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Adds blocks to the last user message, or as a new one. */
export function appendUser(messages: Message[], blocks: ContentBlock[]): Message[] {
  const last = messages.at(-1)
  if (last?.role !== 'user') return [...messages, { role: 'user', content: blocks }]
  if (last.raw === undefined) return [...messages.slice(0, -1), { ...last, content: [...last.content, ...blocks] }]
  return [...messages, { role: 'user', content: blocks }]
}

export type Saver = {
  /**
   * Resolves when the current or a later state is saved, or when the run is to end. Rejects when saving failed.
   * `read` is called just before the state is written, and never when nobody saves.
   */
  save(read: () => LoopState): Promise<void>
}

export function createSaver(write: ((state: LoopState) => Promise<void>) | undefined, signal: AbortSignal): Saver {
  let waiting: (() => LoopState) | undefined
  let active: Promise<void> | undefined

  async function drain(save: (state: LoopState) => Promise<void>): Promise<void> {
    try {
      while (waiting !== undefined) {
        const read = waiting
        waiting = undefined
        await save(read())
      }
    } finally {
      active = undefined
    }
  }

  return {
    async save(read) {
      if (write === undefined) return
      waiting = read
      active ??= drain(write)
      await waitUnlessAborted(active, signal)
    },
  }
}
