// Folds the events of a call into one turn.
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import { dropUndefined, type JsonObject } from '../../lib/json.ts'
import type { Listener, ModelClient } from '../call/model-client.ts'
import {
  type ContentBlock,
  type Message,
  type ModelEvent,
  type ModelRequest,
  noUsage,
  type Raw,
  type ToolUseBlock,
  type Turn,
} from './messages.ts'

type Draft =
  | { type: 'text' | 'thinking'; text: string; signature?: string; field?: string | undefined; raw?: Raw }
  | { type: 'tool_use'; id: string; name: string; json: string; raw?: Raw }
  | { type: 'whole'; block: ContentBlock; raw?: Raw }

/** Parses the arguments that a model wrote. Anything except a JSON object is kept as `invalidArgs`. */
export function parseArgs(json: string): { args: JsonObject; invalidArgs?: string } {
  if (json.trim() === '') return { args: {} }
  const args = parseForeignObject(json)
  // Other values are kept as text, so that the model is told what it wrote.
  return args === undefined ? { args: {}, invalidArgs: json } : { args }
}

/** The arguments of a call in a conversation: a text that was no JSON object is not taken for a call without arguments. */
export function argsOf({ args, invalidArgs }: ToolUseBlock): JsonObject {
  return invalidArgs === undefined ? args : { invalid_arguments: invalidArgs }
}

function finishDraft(draft: Draft): ContentBlock[] {
  const raw = draft.raw === undefined ? {} : { raw: draft.raw }
  if (draft.type === 'whole') return [draft.block]
  if (draft.type === 'tool_use') {
    const block: ToolUseBlock = { type: 'tool_use', id: draft.id, name: draft.name, ...parseArgs(draft.json), ...raw }
    return [block]
  }
  if (draft.type === 'text') return draft.text === '' ? [] : [{ type: 'text', text: draft.text, ...raw }]
  const { text, signature, field } = draft
  if (text === '' && signature === undefined) return []
  return [{ type: 'thinking', text, ...dropUndefined({ signature, field }), ...raw }]
}

function startDraft(event: ModelEvent): Draft | undefined {
  if (event.type === 'block_start') return { type: event.block, text: '', field: event.field }
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
  push(events: ModelEvent[]): void
  /** What has arrived so far. */
  turn(): Turn
}

export function createCollector(): Collector {
  const drafts = new Map<number, Draft>()
  let outcome: Omit<Turn, 'message'> = { usage: noUsage }
  const own: Pick<Message, 'origin' | 'attached'> = {}

  /** The last call of an answer that was cut off has no arguments because they were not written, not because it needs none. */
  function isCut(last: Draft | undefined): last is Extract<Draft, { type: 'tool_use' }> {
    return outcome.stopReason === 'max_tokens' && last?.type === 'tool_use' && last.json.trim() === ''
  }

  function noteOwn(event: ModelEvent): void {
    if (event.type === 'start' && event.origin !== undefined) own.origin = event.origin
    if (event.type === 'attached') own.attached = event.fields
  }

  return {
    push(events) {
      for (const event of events) {
        if ('index' in event) pushBlock(drafts, event)
        else {
          noteOwn(event)
          outcome = { ...outcome, ...outcomeOf(event) }
        }
      }
    },
    turn() {
      const ordered = [...drafts].sort(([a], [b]) => a - b)
      const last = ordered.at(-1)?.[1]
      const content = ordered.flatMap(([, draft]) =>
        finishDraft(draft).map((block) => (draft === last && isCut(last) ? { ...block, invalidArgs: '' } : block)),
      )
      return { message: { role: 'assistant', content, ...own }, ...outcome }
    },
  }
}

function outcomeOf(event: Exclude<ModelEvent, { index: number }>): Partial<Turn> {
  switch (event.type) {
    case 'start':
      return { model: event.model, provider: event.provider }
    case 'usage':
      return { usage: event.usage }
    case 'attached':
      return {}
    case 'error':
      return { error: event.error }
    case 'stop':
      return {
        stopReason: event.reason,
        stopSequence: event.stopSequence,
      }
  }
}

function pushBlock(drafts: Map<number, Draft>, event: Extract<ModelEvent, { index: number }>): void {
  const started = startDraft(event)
  if (started !== undefined) drafts.set(event.index, started)
  const draft = drafts.get(event.index)
  if (draft !== undefined) extendDraft(draft, event)
}

/** One call as a turn. */
export async function collectTurn(
  client: ModelClient,
  request: ModelRequest,
  signal: AbortSignal,
  spend: Listener['spend'] = () => {},
): Promise<Turn> {
  const collector = createCollector()
  await client.call(request, { signal, take: collector.push, spend })
  return collector.turn()
}
