// Folds a stream of model events into one turn.
import { messageOf } from '../errors.ts'
import { parseForeignObject } from './foreign-json.ts'
import {
  type ContentBlock,
  type JsonObject,
  type ModelEvent,
  noUsage,
  type Raw,
  type ToolUseBlock,
  type Turn,
} from './messages.ts'

type Draft =
  | { type: 'text' | 'thinking'; text: string; signature?: string; raw?: Raw }
  | { type: 'tool_use'; id: string; name: string; json: string; raw?: Raw }
  | { type: 'whole'; block: ContentBlock; raw?: Raw }

/** Reads the arguments a model wrote. Anything but a JSON object is kept as `invalidArgs`. */
export function parseArgs(json: string): { args: JsonObject; invalidArgs?: string } {
  if (json.trim() === '') return { args: {} }
  const args = parseForeignObject(json)
  // What is none is kept as text: the model is told what it wrote.
  return args === undefined ? { args: {}, invalidArgs: json } : { args }
}

function finishDraft(draft: Draft): ContentBlock[] {
  const raw = draft.raw === undefined ? {} : { raw: draft.raw }
  if (draft.type === 'whole') return [draft.block]
  if (draft.type === 'tool_use') {
    const block: ToolUseBlock = { type: 'tool_use', id: draft.id, name: draft.name, ...parseArgs(draft.json), ...raw }
    return [block]
  }
  if (draft.type === 'text') return draft.text === '' ? [] : [{ type: 'text', text: draft.text, ...raw }]
  const signature = draft.signature === undefined ? {} : { signature: draft.signature }
  if (draft.text === '' && draft.signature === undefined) return []
  return [{ type: 'thinking', text: draft.text, ...signature, ...raw }]
}

function startDraft(event: ModelEvent): Draft | undefined {
  if (event.type === 'block_start') return { type: event.block, text: '' }
  if (event.type === 'tool_use_start') return { type: 'tool_use', id: event.id, name: event.name, json: '' }
  if (event.type === 'block') return { type: 'whole', block: event.block }
  return undefined
}

function extendDraft(draft: Draft, event: ModelEvent): void {
  if (event.type === 'block_stop' && event.raw !== undefined) draft.raw = event.raw
  if (draft.type === 'tool_use' && event.type === 'args_delta') draft.json += event.json
  if (draft.type !== 'text' && draft.type !== 'thinking') return
  if (event.type === 'text_delta' || event.type === 'thinking_delta') draft.text += event.text
  if (event.type === 'signature_delta') draft.signature = (draft.signature ?? '') + event.signature
}

export type Collector = {
  push(event: ModelEvent): void
  /** What has arrived so far. */
  turn(): Turn
}

export function createCollector(): Collector {
  const drafts = new Map<number, Draft>()
  let outcome: Omit<Turn, 'message'> = { usage: noUsage }
  return {
    push(event) {
      if ('index' in event) pushBlock(drafts, event)
      else outcome = { ...outcome, ...outcomeOf(event) }
    },
    turn() {
      const ordered = [...drafts].sort(([a], [b]) => a - b)
      const content = ordered.flatMap(([, draft]) => finishDraft(draft))
      return { message: { role: 'assistant', content }, ...outcome }
    },
  }
}

function outcomeOf(event: Exclude<ModelEvent, { index: number }>): Partial<Turn> {
  switch (event.type) {
    case 'start':
      return { model: event.model, ...(event.provider === undefined ? {} : { provider: event.provider }) }
    case 'usage':
      return { usage: event.usage }
    case 'error':
      return { error: event.error }
    case 'stop':
      return {
        stopReason: event.reason,
        ...(event.stopSequence === undefined ? {} : { stopSequence: event.stopSequence }),
      }
  }
}

function pushBlock(drafts: Map<number, Draft>, event: Extract<ModelEvent, { index: number }>): void {
  const started = startDraft(event)
  if (started !== undefined) drafts.set(event.index, started)
  const draft = drafts.get(event.index)
  if (draft !== undefined) extendDraft(draft, event)
}

/** Waits for a stream's next event or the abort; one listener for all of them. */
function createWaiter(signal: AbortSignal) {
  let wake: ((word: 'aborted') => void) | undefined
  const onAbort = () => wake?.('aborted')
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    next(iterator: AsyncIterator<ModelEvent>): Promise<IteratorResult<ModelEvent> | 'aborted'> {
      if (signal.aborted) return Promise.resolve('aborted')
      return new Promise((resolve, reject) => {
        wake = resolve
        iterator.next().then(resolve, reject)
      })
    },
    release: () => signal.removeEventListener('abort', onAbort),
  }
}

const abortedEvent: ModelEvent = { type: 'error', error: { reason: 'Stopped', message: 'The call was cancelled.' } }

/** Holds any client to the promises of ModelClient: no throw, no hang after an abort, one last event. */
export async function* guardStream(stream: AsyncIterable<ModelEvent>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const iterator = stream[Symbol.asyncIterator]()
  const waiter = createWaiter(signal)
  try {
    while (true) {
      const next = await waiter.next(iterator)
      if (next === 'aborted') return yield abortedEvent
      if (next.done) return yield endedEarly('The stream ended without a stop.')
      yield next.value
      if (next.value.type === 'stop' || next.value.type === 'error') return
    }
  } catch (error) {
    yield { type: 'error', error: { reason: 'Internal', message: messageOf(error) } }
  } finally {
    waiter.release()
    // Not awaited: a generator that hangs in a pending read would never return.
    iterator.return?.(undefined).catch(() => {})
  }
}

function endedEarly(message: string): ModelEvent {
  return { type: 'error', error: { reason: 'AnswerBrokenOff', message } }
}

/** Reads a whole stream. */
export async function collectTurn(stream: AsyncIterable<ModelEvent>): Promise<Turn> {
  const collector = createCollector()
  for await (const event of stream) collector.push(event)
  return collector.turn()
}
