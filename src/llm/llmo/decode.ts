// llmo to neutral: chunks and whole answers.
import type { JsonObject } from '../../lib/json.ts'
import { type AnswerDecoder, StreamedError } from '../call/vendor-call.ts'
import { readVendorError } from '../call/vendor-error.ts'
import { createCallIds } from '../messages/answer.ts'
import type { ModelEvent, Raw, StopReason, TokenUsage } from '../messages/messages.ts'
import { readNestedCount, readTokenCount } from '../messages/token-usage.ts'
import { type LlmoCallPart, LlmoChunk, type LlmoDelta, type LlmoUsage } from './schema.ts'

const stopReasons: Partial<Record<string, StopReason>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** This vendor's input tokens include cached ones, as neutral input tokens do. */
export function readUsage(usage: JsonObject): TokenUsage {
  return {
    inputTokens: readTokenCount(usage.prompt_tokens) ?? 0,
    outputTokens: readTokenCount(usage.completion_tokens) ?? 0,
    cachedTokens: readNestedCount(usage.prompt_tokens_details, 'cached_tokens') ?? 0,
  }
}

function countUsage(usage: LlmoUsage): ModelEvent {
  return { type: 'usage', usage: readUsage(usage), raw: { family: 'llmo', json: usage } }
}

/** One tool call as it arrives. `extra` is what the vendor wants back with it (thought signatures). */
type CallDraft = { index: number; id?: string; name?: string; early: string; extra: JsonObject }

function readArguments(part: LlmoCallPart): string {
  const args = part.function?.arguments ?? ''
  return typeof args === 'string' ? args : JSON.stringify(args)
}

function readExtra(part: LlmoCallPart): JsonObject {
  const { index: _index, id: _id, type: _type, function: _function, ...extra } = part
  return extra
}

function textOfContent(content: LlmoDelta['content']): string {
  if (content === null || content === undefined || typeof content === 'string') return content ?? ''
  return content.map((part) => (typeof part.text === 'string' ? part.text : '')).join('')
}

/** Numbers the blocks of one answer and closes them at its end. */
function createBlocks() {
  const texts = new Map<'text' | 'thinking', number>()
  const calls = new Map<string, CallDraft>()
  const ids = createCallIds()
  let next = 0
  let lastKey: string | undefined

  function pushText(block: 'text' | 'thinking', text: string): ModelEvent[] {
    if (text === '') return []
    const known = texts.get(block)
    const index = known ?? next++
    texts.set(block, index)
    const delta: ModelEvent =
      block === 'text' ? { type: 'text_delta', index, text } : { type: 'thinking_delta', index, text }
    return known === undefined ? [{ type: 'block_start', index, block }, delta] : [delta]
  }

  /** By index; when a server sends none, a new id starts a new call. */
  function keyOf(part: LlmoCallPart): string {
    if (typeof part.index === 'number') return String(part.index)
    if (part.id) return part.id
    return part.function?.name || lastKey === undefined ? `call ${next}` : lastKey
  }

  function draftOf(part: LlmoCallPart): CallDraft {
    const key = keyOf(part)
    lastKey = key
    const draft = calls.get(key) ?? { index: next++, early: '', extra: {} }
    calls.set(key, draft)
    return draft
  }

  function pushCall(part: LlmoCallPart): ModelEvent[] {
    const draft = draftOf(part)
    Object.assign(draft.extra, readExtra(part))
    const json = readArguments(part)
    if (draft.name !== undefined) return json === '' ? [] : [{ type: 'args_delta', index: draft.index, json }]
    draft.early += json
    if (part.id) draft.id = part.id
    return part.function?.name ? startCall(draft, part.function.name) : []
  }

  function startCall(draft: CallDraft, name: string): ModelEvent[] {
    const { index, early } = draft
    draft.name = name
    const start: ModelEvent = { type: 'tool_use_start', index, id: ids.take(draft.id), name }
    return early === '' ? [start] : [start, { type: 'args_delta', index, json: early }]
  }

  function close(): ModelEvent[] {
    const open = [...calls.values()].filter((draft) => draft.name !== undefined)
    const closed = [...[...texts.values()].map((index) => ({ index, extra: {} })), ...open]
    return closed
      .sort((a, b) => a.index - b.index)
      .map(({ index, extra }) => ({ type: 'block_stop', index, ...rawOf(extra) }))
  }

  return { pushText, pushCall, close, hasCalls: () => calls.size > 0 }
}

function rawOf(extra: JsonObject): { raw?: Raw } {
  return Object.keys(extra).length === 0 ? {} : { raw: { family: 'llmo', json: extra } }
}

function failBroken(what: string): never {
  throw new StreamedError({ message: `it sent ${what} that cannot be read`, type: 'server_error' })
}

/** Whether it contains nothing to read except text. */
function hasText(delta: LlmoDelta): delta is LlmoDelta & { content: string } {
  const { content, reasoning_content: reason, reasoning, refusal, tool_calls: calls } = delta
  return typeof content === 'string' && (reason ?? reasoning ?? refusal ?? calls ?? undefined) === undefined
}

/** Almost all chunks are plain text: checked by hand, for a fraction of the cost of the schema. */
function readText(json: unknown): string | undefined {
  const { choices, usage, error } = json as Partial<LlmoChunk> & { error?: unknown }
  if (!Array.isArray(choices) || choices.length !== 1 || (usage ?? error ?? undefined) !== undefined) return undefined
  const { delta, finish_reason: finish } = choices[0] ?? {}
  if (typeof delta !== 'object' || delta === null || (finish ?? undefined) !== undefined) return undefined
  return hasText(delta) ? delta.content : undefined
}

export function createDecoder(): AnswerDecoder {
  const blocks = createBlocks()
  let started = false
  let finish: string | undefined
  let refused = false

  function start(chunk: LlmoChunk): ModelEvent[] {
    if (started) return []
    started = true
    const raw: Raw = { family: 'llmo', json: chunk }
    return [{ type: 'start', model: chunk.model ?? '', ...(chunk.id ? { id: chunk.id } : {}), raw }]
  }

  function pushDelta(delta: LlmoDelta): ModelEvent[] {
    if (delta.refusal) refused = true
    return [
      ...blocks.pushText('thinking', delta.reasoning_content ?? delta.reasoning ?? ''),
      ...blocks.pushText('text', textOfContent(delta.content) + (delta.refusal ?? '')),
      ...(delta.tool_calls ?? []).flatMap(blocks.pushCall),
    ]
  }

  function pushChunk(chunk: LlmoChunk): ModelEvent[] {
    const [choice] = chunk.choices ?? []
    finish = choice?.finish_reason ?? finish
    const delta = choice?.delta ?? choice?.message
    return [
      ...start(chunk),
      ...(delta === null || delta === undefined ? [] : pushDelta(delta)),
      ...(chunk.usage ? [countUsage(chunk.usage)] : []),
    ]
  }

  function stopReason(): StopReason {
    if (refused) return 'refusal'
    const reason = stopReasons[finish ?? ''] ?? 'end_turn'
    // Some servers say "stop" after tool calls.
    return reason === 'end_turn' && blocks.hasCalls() ? 'tool_use' : reason
  }

  function end(): ModelEvent[] {
    if (finish === undefined) return []
    const raw: Raw = { family: 'llmo', json: { finish_reason: finish } }
    return [...blocks.close(), { type: 'stop', reason: stopReason(), raw }]
  }

  return {
    pushFrame(json) {
      const text = started && json !== null ? readText(json) : undefined
      if (text !== undefined) return blocks.pushText('text', text)
      const chunk = readChunk(json, 'a chunk')
      return pushChunk(chunk)
    },
    end,
    readWhole(json) {
      const events = pushChunk(readChunk(json, 'an answer'))
      finish ??= 'stop'
      return [...events, ...end()]
    },
  }
}

function readChunk(json: unknown, what: string): LlmoChunk {
  if (typeof json !== 'object' || json === null) return failBroken(what)
  const { error } = json as JsonObject
  if (error !== undefined && error !== null) {
    throw new StreamedError({ message: 'unknown error', ...readVendorError(json) })
  }
  const chunk = LlmoChunk.safeParse(json)
  return chunk.success ? chunk.data : failBroken(what)
}
