// llmo to neutral: chunks and whole answers.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { type AnswerDecoder, type DecoderOptions, StreamedError } from '../call/vendor-call.ts'
import { readVendorError, type VendorError } from '../call/vendor-error.ts'
import { type Ending, isEndWord, isFailedEnd, readEnding } from '../messages/endings.ts'
import { type ModelEvent, noUsage, type Raw, type StopReason, type TokenUsage } from '../messages/messages.ts'
import { findUsage, readUsage } from '../messages/usage-reader.ts'
import { addAttached, thinkingFields } from './attached.ts'
import { createCallReader } from './calls.ts'
import { LlmoChunk, type LlmoDelta } from './schema.ts'

type Part = { type?: unknown; text?: unknown; thinking?: unknown }

/** Content in parts, as some servers write it, has thinking among its text. */
type Texts = { text: string; thinking: string; field?: string; unknown: string[] }

function readParts(parts: Part[]): Texts {
  const texts: Texts = { text: '', thinking: '', unknown: [] }
  for (const part of parts) {
    if (typeof part.text === 'string') texts.text += part.text
    else if (part.type === 'thinking') {
      texts.field = 'content'
      texts.thinking += typeof part.thinking === 'string' ? part.thinking : readInner(part.thinking)
    } else texts.unknown.push(String(part.type))
  }
  return texts
}

function readInner(parts: unknown): string {
  return Array.isArray(parts) ? readParts(parts as Part[]).text : ''
}

function readTexts(delta: LlmoDelta): Texts {
  const { content } = delta
  const texts: Texts = Array.isArray(content)
    ? readParts(content as Part[])
    : { text: content ?? '', thinking: '', unknown: [] }
  texts.text += delta.refusal ?? ''
  const field = thinkingFields.find((name) => typeof delta[name] === 'string' && delta[name] !== '')
  return field === undefined ? texts : { ...texts, thinking: String(delta[field]), field }
}

/** Numbers the blocks of one answer and closes them at its end. */
function createBlocks() {
  const texts = new Map<'text' | 'thinking', number>()
  const attached: JsonObject = {}
  let next = 0
  let thinking = ''
  let field: string | undefined
  const calls = createCallReader(() => next++)

  function pushText(block: 'text' | 'thinking', text: string): ModelEvent[] {
    if (text === '') return []
    const known = texts.get(block)
    const index = known ?? next++
    texts.set(block, index)
    const delta: ModelEvent =
      block === 'text' ? { type: 'text_delta', index, text } : { type: 'thinking_delta', index, text }
    if (known !== undefined) return [delta]
    return [{ type: 'block_start', index, block, ...(block === 'thinking' && field !== undefined && { field }) }, delta]
  }

  function pushThinking(found: Texts): ModelEvent[] {
    field ??= found.field
    thinking += found.thinking
    return pushText('thinking', found.thinking)
  }

  /** The field of the thinking is in its block already. */
  function leftFields(): ModelEvent[] {
    if (field !== undefined && attached[field] === thinking) delete attached[field]
    return Object.keys(attached).length === 0 ? [] : [{ type: 'attached', fields: attached }]
  }

  return {
    calls,
    attached,
    pushText,
    pushThinking,
    isEmpty: () => next === 0,
    hasText: () => texts.has('text'),
    close(isCut: boolean): ModelEvent[] {
      const closed = [...texts.values()].map((index): ModelEvent => ({ type: 'block_stop', index }))
      return [...closed, ...calls.close(isCut), ...leftFields()]
    },
  }
}

function fail(vendor: VendorError, before: ModelEvent[] = []): never {
  throw new StreamedError(vendor, before)
}

function failBroken(what: string): never {
  return fail({ message: `it sent ${what} that cannot be read`, type: 'server_error' })
}

/** Whether it contains nothing to read except text. */
function hasText(delta: LlmoDelta): delta is LlmoDelta & { content: string } {
  if (typeof delta.content !== 'string') return false
  for (const name in delta) {
    if (name !== 'content' && name !== 'role' && isFilled(delta[name])) return false
  }
  return true
}

function isFilled(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** Almost all chunks are plain text: checked by hand, for a fraction of the cost of the schema. */
function readText(json: unknown): string | undefined {
  const { choices, usage, error, x_groq } = json as Partial<LlmoChunk>
  if (!Array.isArray(choices) || choices.length !== 1) return undefined
  if ((usage ?? error ?? x_groq ?? undefined) !== undefined) return undefined
  const { delta, finish_reason: finish, usage: counts, error: failure } = choices[0] ?? {}
  if (typeof delta !== 'object' || delta === null || (finish ?? counts ?? failure ?? undefined) !== undefined)
    return undefined
  return hasText(delta) ? delta.content : undefined
}

/** What a frame or an answer says that is no completion; undefined when it says nothing. */
function findWords(json: JsonObject): Omit<VendorError, 'status'> | undefined {
  const choice = Array.isArray(json.choices) ? (json.choices[0] as JsonObject | null | undefined) : undefined
  if (isFilled(json.error)) return { message: 'unknown error', ...readVendorError(json) }
  if (isFilled(choice?.error)) return { message: 'unknown error', ...readVendorError(choice) }
  const isAnswer = choice !== undefined || findUsage(json) !== undefined
  return isAnswer || Array.isArray(json.choices) ? undefined : readVendorError(json)
}

/** How the finish of an answer is explained when it is none. */
function explainFinish(finish: string, ending: Ending | undefined): VendorError {
  const known = ending === undefined ? ', which is not known' : ''
  const reason = ending !== undefined && isFailedEnd(ending) ? ending : 'AnswerBrokenOff'
  return { reason, message: `the answer ended with finish_reason "${finish}"${known}` }
}

export function createDecoder({ origin, onUnknown = () => {} }: DecoderOptions = {}): AnswerDecoder {
  const blocks = createBlocks()
  let started = false
  let finish: string | undefined
  let refused = false
  /** Gateways that write "stop" in every frame end with the marker alone. */
  let isEndOpen = false
  let usage: TokenUsage = noUsage

  function start(chunk: LlmoChunk): ModelEvent[] {
    if (started) return []
    started = true
    const raw: Raw = { family: 'llmo', json: chunk }
    const named = { ...(chunk.id ? { id: chunk.id } : {}), ...(origin !== undefined && { origin }) }
    return [{ type: 'start', model: chunk.model ?? '', ...named, raw }]
  }

  function pushDelta(delta: LlmoDelta, isWhole: boolean): ModelEvent[] {
    if (delta.refusal) refused = true
    const texts = readTexts(delta)
    for (const type of texts.unknown) onUnknown('block', type)
    addAttached(blocks.attached, delta)
    const older = delta.function_call ? [{ function: delta.function_call }] : []
    const pushCall = isWhole ? blocks.calls.pushWhole : blocks.calls.push
    return [
      ...blocks.pushThinking(texts),
      ...blocks.pushText('text', texts.text),
      ...[...(delta.tool_calls ?? []), ...older].flatMap(pushCall),
    ]
  }

  /** A whole message after pieces of it says the same again. */
  function pushChoice({ delta, message }: NonNullable<LlmoChunk['choices']>[number]): ModelEvent[] {
    if (delta) return pushDelta(delta, false)
    return message && blocks.isEmpty() ? pushDelta(message, true) : []
  }

  function count(chunk: LlmoChunk): ModelEvent[] {
    const counts = findUsage(chunk)
    if (counts === undefined) return []
    usage = readUsage(usage, counts)
    return [{ type: 'usage', usage, raw: { family: 'llmo', json: counts } }]
  }

  /** A plain end after another one says nothing more. */
  function noteEnd(word: unknown): void {
    if (isEndWord(word) && (finish === undefined || readEnding(word) !== 'end_turn')) finish = word
  }

  function pushChunk(chunk: LlmoChunk): ModelEvent[] {
    const [choice] = chunk.choices ?? []
    const content = choice === undefined ? [] : pushChoice(choice)
    noteContent(content)
    noteEnd(choice?.finish_reason)
    return [...start(chunk), ...content, ...count(chunk)]
  }

  function noteContent(content: ModelEvent[]): ModelEvent[] {
    if (finish !== undefined && content.length > 0) isEndOpen = true
    return content
  }

  /** Some servers say "stop" after tool calls. */
  function endingOf(word: string): Ending | undefined {
    const ending = readEnding(word)
    if (ending === undefined) onUnknown('finish_reason', word)
    if (refused && ending !== undefined && !isFailedEnd(ending)) return 'refusal'
    return ending === 'end_turn' && blocks.calls.count() > 0 ? 'tool_use' : ending
  }

  /** What an answer lacks of what its end promises. */
  function findGap(ending: StopReason): string | undefined {
    if (ending === 'tool_use' && blocks.calls.count() === 0)
      return 'the answer ended for a tool call that it does not contain'
    return blocks.calls.hasNameless() && ending !== 'max_tokens'
      ? 'the answer contains a tool call without a name'
      : undefined
  }

  function end(isMarked = false): ModelEvent[] {
    if (finish === undefined || (isEndOpen && !isMarked && readEnding(finish) === 'end_turn')) return []
    const ending = endingOf(finish)
    if (ending === undefined || isFailedEnd(ending)) return fail(explainFinish(finish, ending))
    const gap = findGap(ending)
    if (gap !== undefined) return fail({ reason: 'AnswerBrokenOff', message: gap })
    const raw: Raw = { family: 'llmo', json: { finish_reason: finish } }
    return [...blocks.close(ending === 'max_tokens'), { type: 'stop', reason: ending, raw }]
  }

  return {
    pushFrame(json) {
      const text = started && json !== null ? readText(json) : undefined
      if (text !== undefined) return noteContent(blocks.pushText('text', text))
      const chunk = readChunk(json, 'a chunk')
      if (chunk.choices === undefined && findUsage(chunk) === undefined)
        onUnknown('frame', String(chunk.type ?? chunk.object))
      return pushChunk(chunk)
    },
    end,
    readWhole(json) {
      const chunk = readChunk(json, 'an answer')
      if (!chunk.choices?.[0]) {
        onUnknown('body', 'no choices')
        return fail({ message: 'its answer has no choices', reason: 'ProviderFailed' })
      }
      const events = pushChunk(chunk)
      finish ??= 'stop'
      try {
        return [...events, ...end()]
      } catch (error) {
        // Nothing of it is shown, so that it is tried again; what it used is counted.
        if (error instanceof StreamedError)
          return fail(
            error.vendor,
            events.filter(({ type }) => type === 'usage'),
          )
        throw error
      }
    },
  }
}

function readChunk(json: unknown, what: string): LlmoChunk {
  // Some gateways put their error into a list.
  if (Array.isArray(json)) return readChunk(json[0], what)
  if (!isJsonObject(json)) return failBroken(what)
  const words = findWords(json)
  if (words !== undefined) return fail(words)
  const chunk = LlmoChunk.safeParse(json)
  return chunk.success ? chunk.data : failBroken(what)
}
