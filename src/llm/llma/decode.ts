// llma to neutral: frames and whole answers.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { type AnswerDecoder, type DecoderOptions, StreamedError } from '../call/vendor-call.ts'
import { type OnUnknown, readVendorError, type VendorError } from '../call/vendor-error.ts'
import { type EndFailure, isEndWord, isFailedEnd, readEnding } from '../messages/endings.ts'
import { type ModelEvent, noUsage, type Raw, type StopReason } from '../messages/messages.ts'
import { findUsage, readUsage } from '../messages/usage-reader.ts'
import { createBlockReader } from './blocks.ts'
import { LlmaAnswer, LlmaFrame } from './schema.ts'

function failBroken(what: string): never {
  throw new StreamedError({ message: `it sent ${what} that cannot be read`, type: 'api_error' })
}

function failWith(json: unknown): never {
  throw new StreamedError({ message: 'unknown error', ...readVendorError(json) })
}

/** How the stop of an answer is explained when it is none. */
function explainStop(reason: string, ending: EndFailure | undefined): VendorError {
  const known = ending === undefined ? ', which is not known' : ''
  return { reason: ending ?? 'AnswerBrokenOff', message: `the answer ended with stop_reason "${reason}"${known}` }
}

function typeOf(json: unknown): string {
  return String((json as { type?: unknown } | null)?.type)
}

const knownFrames: string[] = LlmaFrame.options.map((option) => option.shape.type.value)

const withoutCall: VendorError = {
  reason: 'AnswerBrokenOff',
  message: 'the answer ended for a tool call that it does not contain',
}

type StopDelta = JsonObject & { stop_reason?: string | null | undefined; stop_sequence?: string | null | undefined }

/** Usage and stop reason, as they become known. */
function createOutcome(onUnknown: OnUnknown, calls: () => number) {
  let usage = noUsage
  let counts: JsonObject = {}
  let stop: StopDelta | undefined

  /** Some servers end calls with other words, or end for calls that they do not send. */
  function matchCalls(ending: StopReason): StopReason {
    if (ending === 'end_turn' && calls() > 0) return 'tool_use'
    if (ending === 'tool_use' && calls() === 0) throw new StreamedError(withoutCall)
    return ending
  }

  function requireEnding(word: string): StopReason {
    const ending = readEnding(word)
    if (ending === undefined) onUnknown('finish_reason', word)
    if (ending === undefined || isFailedEnd(ending)) throw new StreamedError(explainStop(word, ending))
    return matchCalls(ending)
  }

  return {
    count(found: JsonObject | undefined): ModelEvent[] {
      if (found === undefined) return []
      usage = readUsage(usage, found)
      counts = { ...counts, ...dropNulls(found) }
      return [{ type: 'usage', usage, raw: { family: 'llma', json: counts } }]
    },
    note(delta: StopDelta) {
      if (isEndWord(delta.stop_reason)) stop = delta
    },
    end(): ModelEvent[] {
      if (stop === undefined) return []
      const reason = requireEnding(String(stop.stop_reason))
      const sequence = stop.stop_sequence ?? undefined
      const raw: Raw = { family: 'llma', json: stop }
      return [{ type: 'stop', reason, ...(sequence !== undefined && { stopSequence: sequence }), raw }]
    },
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

/** Frames without content. */
const idleFrames = ['ping', 'heartbeat']

export function createDecoder({ origin, onUnknown = () => {} }: DecoderOptions = {}): AnswerDecoder {
  const blocks = createBlockReader(onUnknown, () => failBroken('a piece of a tool call that was not begun'))
  const outcome = createOutcome(onUnknown, blocks.calls)

  function open(answer: LlmaAnswer): ModelEvent[] {
    const named = { ...(answer.id !== undefined && { id: answer.id }), ...(origin !== undefined && { origin }) }
    const raw: Raw = { family: 'llma', json: answer }
    return [{ type: 'start', model: answer.model, ...named, raw }, ...outcome.count(findUsage(answer))]
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
        return outcome.count(findUsage(frame))
      case 'message_stop':
        return end()
    }
  }

  function end(): ModelEvent[] {
    const stop = outcome.end()
    return stop.length === 0 ? stop : [...blocks.closeAll(), ...stop]
  }

  function readAnswer(answer: LlmaAnswer): ModelEvent[] {
    const { content, stop_reason, stop_sequence } = answer
    const opening = open(answer)
    const read = (content ?? []).flatMap((block, index) => [...blocks.open(index, block), ...blocks.close(index)])
    outcome.note({ stop_reason: isEndWord(stop_reason) ? stop_reason : 'end_turn', stop_sequence })
    try {
      return [...opening, ...read, ...end()]
    } catch (error) {
      // Nothing of it is shown, so that it is tried again; what it used is counted.
      const counted = opening.filter(({ type }) => type === 'usage')
      throw error instanceof StreamedError ? new StreamedError(error.vendor, counted) : error
    }
  }

  function readOther(json: unknown): ModelEvent[] {
    const type = typeOf(json)
    if (type === 'error' || isFailure(json)) failWith(json)
    if (!knownFrames.includes(type)) {
      if (!idleFrames.includes(type)) onUnknown('frame', type)
      return []
    }
    const frame = LlmaFrame.safeParse(json)
    return frame.success ? readFrame(frame.data) : failBroken(`a ${type} frame`)
  }

  return {
    pushFrame(json) {
      const text = json === null ? undefined : readText(json)
      return (text && blocks.extendText(text.index, text.text)) ?? readOther(json)
    },
    end,
    readWhole(json) {
      if (typeOf(json) === 'error' || isFailure(json)) failWith(json)
      const answer = LlmaAnswer.safeParse(json)
      if (!answer.success) return failBroken('an answer')
      if (answer.data.content === undefined) {
        onUnknown('body', 'no content')
        throw new StreamedError({ reason: 'ProviderFailed', message: 'its answer has no content' })
      }
      return readAnswer(answer.data)
    },
  }
}

/** An error that is no frame and no answer of this family. */
function isFailure(json: unknown): boolean {
  if (Array.isArray(json)) return readVendorError(json) !== undefined
  if (!isJsonObject(json) || (json.error ?? undefined) !== undefined) return true
  const { type, content } = json
  return type === undefined && content === undefined && readVendorError(json) !== undefined
}
