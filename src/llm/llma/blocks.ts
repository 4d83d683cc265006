// The content blocks of an llma answer, from their first frame to their last.

import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import type { JsonObject } from '../../lib/json.ts'
import { createCallIds } from '../messages/answer.ts'
import type { ModelEvent, Raw } from '../messages/messages.ts'
import type { LlmaFrame } from './schema.ts'

type Draft = { block: JsonObject & { type: string }; json: string; text: string; citations: unknown[] }

const plainKeys: Partial<Record<string, string[]>> = {
  text: ['type', 'text', 'citations'],
  thinking: ['type', 'thinking', 'signature'],
  tool_use: ['type', 'id', 'name', 'input'],
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toRaw(json: JsonObject): Raw {
  return { family: 'llma', json }
}

function startBlock(index: number, draft: Draft): ModelEvent[] {
  const { block } = draft
  if (block.type === 'tool_use') {
    return [{ type: 'tool_use_start', index, id: readText(block.id), name: readText(block.name) }]
  }
  if (block.type === 'text') {
    const text = readText(block.text)
    const start: ModelEvent = { type: 'block_start', index, block: 'text' }
    return text === '' ? [start] : [start, ...extendText(index, draft, text)]
  }
  return block.type === 'thinking' ? startThinking(index, block) : []
}

function startThinking(index: number, block: JsonObject): ModelEvent[] {
  const events: ModelEvent[] = [{ type: 'block_start', index, block: 'thinking' }]
  const text = readText(block.thinking)
  const signature = readText(block.signature)
  if (text !== '') events.push({ type: 'thinking_delta', index, text })
  if (signature !== '') events.push({ type: 'signature_delta', index, signature })
  return events
}

function extendText(index: number, draft: Draft, text: string): ModelEvent[] {
  draft.text += text
  return [{ type: 'text_delta', index, text }]
}

type DeltaFrame = Extract<LlmaFrame, { type: 'content_block_delta' }>

function extendBlock({ index, delta }: DeltaFrame, draft: Draft): ModelEvent[] {
  switch (delta.type) {
    case 'text_delta':
      return extendText(index, draft, delta.text ?? '')
    case 'thinking_delta':
      return [{ type: 'thinking_delta', index, text: delta.thinking ?? '' }]
    case 'signature_delta':
      return [{ type: 'signature_delta', index, signature: delta.signature ?? '' }]
    case 'citations_delta':
      draft.citations.push(delta.citation)
      return [{ type: 'raw_delta', index, raw: toRaw(delta) }]
    case 'input_json_delta':
      draft.json += delta.partial_json ?? ''
      return draft.block.type === 'tool_use' ? [{ type: 'args_delta', index, json: delta.partial_json ?? '' }] : []
    default:
      return []
  }
}

/** The complete input, from servers that do not send it in fragments. */
function wholeInput(draft: Draft): string | undefined {
  const { input } = draft.block
  const isFilled = typeof input === 'object' && input !== null && Object.keys(input).length > 0
  return draft.json === '' && isFilled ? JSON.stringify(input) : undefined
}

function parseInput(draft: Draft): unknown {
  return draft.json === '' ? draft.block.input : (parseForeignJson(draft.json) ?? {})
}

function stopBlock(index: number, draft: Draft): ModelEvent[] {
  const { block } = draft
  if (plainKeys[block.type] === undefined) return [stopWhole(index, draft)]
  const events: ModelEvent[] = []
  const input = block.type === 'tool_use' ? wholeInput(draft) : undefined
  if (input !== undefined) events.push({ type: 'args_delta', index, json: input })
  const raw = rawOf(draft)
  events.push({ type: 'block_stop', index, raw })
  return events
}

function stopWhole(index: number, draft: Draft): ModelEvent {
  const { block } = draft
  if (block.type === 'redacted_thinking') {
    return { type: 'block', index, block: { type: 'redacted_thinking', data: readText(block.data) } }
  }
  const json = draft.json === '' ? block : { ...block, input: parseInput(draft) }
  return { type: 'block', index, block: { type: 'opaque', label: block.type, raw: toRaw(json) } }
}

/** Only when the block contains more than its neutral form. */
function rawOf(draft: Draft): Raw | undefined {
  const { block } = draft
  const citations = [...(Array.isArray(block.citations) ? block.citations : []), ...draft.citations]
  if (block.type === 'text' && citations.length > 0) return toRaw({ ...block, text: draft.text, citations })
  const extra = Object.keys(block).some((key) => !plainKeys[block.type]?.includes(key))
  return extra && block.type === 'tool_use' ? toRaw({ ...block, input: parseInput(draft) }) : undefined
}

type Opening = JsonObject & { type: string }

export type BlockReader = {
  open(index: number, block: Opening): ModelEvent[]
  extend(frame: DeltaFrame): ModelEvent[]
  extendText(index: number, text: string): ModelEvent[]
  close(index: number): ModelEvent[]
}

export function createBlockReader(): BlockReader {
  const drafts = new Map<number, Draft>()
  const ids = createCallIds()
  return {
    open(index, opening) {
      const isCall = opening.type === 'tool_use'
      const block = isCall ? { ...opening, id: ids.take(readText(opening.id)) } : opening
      const draft: Draft = { block, json: '', text: '', citations: [] }
      drafts.set(index, draft)
      return startBlock(index, draft)
    },
    extend(frame) {
      const draft = drafts.get(frame.index)
      return draft === undefined ? [] : extendBlock(frame, draft)
    },
    extendText(index, text) {
      const draft = drafts.get(index)
      return draft === undefined ? [] : extendText(index, draft, text)
    },
    close(index) {
      const draft = drafts.get(index)
      drafts.delete(index)
      return draft === undefined ? [] : stopBlock(index, draft)
    },
  }
}
