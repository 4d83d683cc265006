// llma to neutral: frames and whole answers.
import type { JsonObject } from '../../lib/json.ts'
import { type AnswerDecoder, StreamedError } from '../call/vendor-call.ts'
import { readVendorError } from '../call/vendor-error.ts'
import { type ModelEvent, noUsage, type Raw, type StopReason, type TokenUsage } from '../messages/messages.ts'
import { readTokenCount } from '../messages/token-usage.ts'
import { createBlockReader } from './blocks.ts'
import { LlmaAnswer, LlmaFrame, type LlmaUsage } from './schema.ts'

const stopReasons: Partial<Record<string, StopReason>> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
  pause_turn: 'pause',
}

/** This vendor counts cached tokens separately; neutral input tokens include them. */
export function readUsage(before: TokenUsage, usage: JsonObject): TokenUsage {
  const outputTokens = readTokenCount(usage.output_tokens) ?? before.outputTokens
  const fresh = readTokenCount(usage.input_tokens)
  const cached = readTokenCount(usage.cache_read_input_tokens)
  const written = readTokenCount(usage.cache_creation_input_tokens)
  // The last frames of some servers have no input, or 0, where the first one was right.
  if (fresh === undefined || fresh + (cached ?? 0) + (written ?? 0) === 0) return { ...before, outputTokens }
  const cachedTokens = cached ?? before.cachedTokens
  const cacheWriteTokens = written ?? before.cacheWriteTokens ?? 0
  const inputTokens = fresh + cachedTokens + cacheWriteTokens
  return { inputTokens, outputTokens, cachedTokens, ...(cacheWriteTokens > 0 && { cacheWriteTokens }) }
}

function failBroken(what: string): never {
  throw new StreamedError({ message: `it sent ${what} that cannot be read`, type: 'api_error' })
}

function failWith(json: unknown): never {
  throw new StreamedError({ message: 'unknown error', ...readVendorError(json) })
}

function typeOf(json: unknown): string {
  return String((json as { type?: unknown } | null)?.type)
}

const knownFrames: string[] = LlmaFrame.options.map((option) => option.shape.type.value)

/** Usage and stop reason, as they become known. */
function createOutcome() {
  let usage = noUsage
  let counts: JsonObject = {}
  let stop: ModelEvent | undefined
  return {
    count(found: LlmaUsage | null | undefined): ModelEvent[] {
      if (found === null || found === undefined) return []
      usage = readUsage(usage, found)
      counts = { ...counts, ...dropNulls(found) }
      return [{ type: 'usage', usage, raw: { family: 'llma', json: counts } }]
    },
    note(delta: JsonObject & { stop_reason?: string | null | undefined; stop_sequence?: string | null | undefined }) {
      const { stop_reason: reason, stop_sequence: sequence } = delta
      if (reason === null || reason === undefined) return
      const stopSequence = sequence === null || sequence === undefined ? {} : { stopSequence: sequence }
      const raw: Raw = { family: 'llma', json: delta }
      stop = { type: 'stop', reason: stopReasons[reason] ?? 'end_turn', ...stopSequence, raw }
    },
    end: (): ModelEvent[] => (stop === undefined ? [] : [stop]),
  }
}

/** The last frame may repeat counts as null. */
function dropNulls(counts: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== null))
}

type TextFrame = { index: number; text: string }

/** Almost all frames are of this kind: checked by hand, for a fraction of the cost of the schema. */
function readText(json: unknown): TextFrame | undefined {
  const { type, index, delta } = json as Partial<Extract<LlmaFrame, { type: 'content_block_delta' }>>
  if (type !== 'content_block_delta' || delta?.type !== 'text_delta') return undefined
  const { text } = delta
  return typeof text === 'string' && Number.isInteger(index) && Number(index) >= 0
    ? { index: Number(index), text }
    : undefined
}

export function createDecoder(): AnswerDecoder {
  const blocks = createBlockReader()
  const outcome = createOutcome()

  function open(answer: LlmaAnswer): ModelEvent[] {
    const id = answer.id === undefined ? {} : { id: answer.id }
    const raw: Raw = { family: 'llma', json: answer }
    return [{ type: 'start', model: answer.model, ...id, raw }, ...outcome.count(answer.usage)]
  }

  function readFrame(frame: LlmaFrame): ModelEvent[] {
    switch (frame.type) {
      case 'message_start':
        return open(frame.message)
      case 'content_block_start':
        return blocks.open(frame.index, frame.content_block)
      case 'content_block_delta':
        return blocks.extend(frame)
      case 'content_block_stop':
        return blocks.close(frame.index)
      case 'message_delta':
        outcome.note(frame.delta)
        return outcome.count(frame.usage)
      case 'message_stop':
        return outcome.end()
    }
  }

  return {
    pushFrame(json) {
      const text = json === null ? undefined : readText(json)
      if (text !== undefined) return blocks.extendText(text.index, text.text)
      const type = typeOf(json)
      if (type === 'error') failWith(json)
      if (!knownFrames.includes(type)) return []
      const frame = LlmaFrame.safeParse(json)
      return frame.success ? readFrame(frame.data) : failBroken(`a ${type} frame`)
    },
    end: outcome.end,
    readWhole(json) {
      if (typeOf(json) === 'error') failWith(json)
      const answer = LlmaAnswer.safeParse(json)
      if (!answer.success) return failBroken('an answer')
      const { content, stop_reason, stop_sequence } = answer.data
      const read = content.flatMap((block, index) => [...blocks.open(index, block), ...blocks.close(index)])
      outcome.note({ stop_reason: stop_reason ?? 'end_turn', stop_sequence })
      return [...open(answer.data), ...read, ...outcome.end()]
    },
  }
}
