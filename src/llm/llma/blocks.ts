// The content blocks of an llma answer, from their first frame to their last.
import { parseForeignJson } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { OnUnknown } from '../call/vendor-error.ts'
import { createCallIds } from '../messages/answer.ts'
import { ArgumentsText } from '../messages/call-arguments.ts'
import type { ModelEvent, Raw } from '../messages/messages.ts'
import type { LlmaFrame } from './schema.ts'

type Draft = {
  /** Of the neutral block: vendors reuse theirs. */
  index: number
  block: JsonObject & { type: string }
  json: string
  args: ArgumentsText
  text: string
  signature: string
  citations: unknown[]
}

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

function startBlock({ index, block }: Draft): ModelEvent[] {
  if (block.type === 'tool_use') {
    return [{ type: 'tool_use_start', index, id: readText(block.id), name: readText(block.name) }]
  }
  return block.type === 'text' || block.type === 'thinking' ? [{ type: 'block_start', index, block: block.type }] : []
}

/** What the first frame of a block contains of it already. */
function openingOf(draft: Draft): ModelEvent[] {
  const { block } = draft
  if (block.type === 'text') return extendText(draft, readText(block.text))
  if (block.type !== 'thinking') return []
  return [...extendThinking(draft, readText(block.thinking)), ...extendSignature(draft, readText(block.signature))]
}

function extendThinking(draft: Draft, text: string): ModelEvent[] {
  draft.text += text
  return text === '' ? [] : [{ type: 'thinking_delta', index: draft.index, text }]
}

function extendSignature(draft: Draft, signature: string): ModelEvent[] {
  draft.signature += signature
  return signature === '' ? [] : [{ type: 'signature_delta', index: draft.index, signature }]
}

function extendText(draft: Draft, text: string): ModelEvent[] {
  draft.text += text
  return text === '' ? [] : [{ type: 'text_delta', index: draft.index, text }]
}

type DeltaFrame = Extract<LlmaFrame, { type: 'content_block_delta' }>

function extendBlock({ delta }: DeltaFrame, draft: Draft, onUnknown: OnUnknown): ModelEvent[] {
  switch (delta.type) {
    case 'text_delta':
      return extendText(draft, delta.text ?? '')
    case 'thinking_delta':
      return extendThinking(draft, delta.thinking ?? '')
    case 'signature_delta':
      return extendSignature(draft, delta.signature ?? '')
    case 'citations_delta':
      draft.citations.push(delta.citation)
      return [{ type: 'raw_delta', index: draft.index, raw: toRaw(delta) }]
    default:
      onUnknown('block', delta.type)
      return []
  }
}

/** The complete input, from servers that do not send it in fragments. */
function wholeInput(draft: Draft): string | undefined {
  const { input } = draft.block
  const isFilled = typeof input === 'object' && input !== null && Object.keys(input).length > 0
  return draft.json === '' && isFilled ? JSON.stringify(input) : undefined
}

/** Undefined when it was cut or is no JSON. */
function readInput(draft: Draft): unknown {
  return draft.json === '' ? draft.block.input : parseForeignJson(draft.json)
}

function stopBlock(draft: Draft): ModelEvent[] {
  const { block, index } = draft
  if (plainKeys[block.type] === undefined) return [stopWhole(index, draft)]
  const input = block.type === 'tool_use' ? wholeInput(draft) : undefined
  const raw = rawOf(draft)
  return [
    ...(input === undefined ? [] : [{ type: 'args_delta', index, json: input } as const]),
    { type: 'block_stop', index, ...(raw && { raw }) },
  ]
}

function stopWhole(index: number, draft: Draft): ModelEvent {
  const { block } = draft
  if (block.type === 'redacted_thinking') {
    return { type: 'block', index, block: { type: 'redacted_thinking', data: readText(block.data) } }
  }
  const json = draft.json === '' ? block : { ...block, input: readInput(draft) ?? draft.json }
  return { type: 'block', index, block: { type: 'opaque', label: block.type, raw: toRaw(json) } }
}

/** Only when the block contains more than its neutral form. */
function rawOf(draft: Draft): Raw | undefined {
  const { block, text, signature } = draft
  const citations = [...(Array.isArray(block.citations) ? block.citations : []), ...draft.citations]
  const extra = Object.keys(block).some((key) => !plainKeys[block.type]?.includes(key))
  if (block.type === 'text' && citations.length > 0) return toRaw({ ...block, text, citations })
  if (!extra) return undefined
  if (block.type === 'text') return toRaw({ ...block, text })
  if (block.type === 'thinking') return toRaw({ ...block, thinking: text, signature })
  const input = readInput(draft)
  // Arguments that were cut or broken are no input.
  return isJsonObject(input) ? toRaw({ ...block, input }) : undefined
}

type Opening = JsonObject & { type: string }

/** Blocks that only the vendor's own tools make: known, and kept as they are. */
const vendorBlocks =
  /^(server_tool_use|mcp_tool_use|redacted_thinking|container_upload|compaction|connector_text|\w+_tool_result)$/

/** Blocks that a server did not open, by the delta that belongs to them. */
const openings: Partial<Record<string, Opening>> = {
  text_delta: { type: 'text', text: '' },
  thinking_delta: { type: 'thinking', thinking: '' },
}

export type BlockReader = {
  open(index: number, block: Opening): ModelEvent[]
  extend(frame: DeltaFrame): ModelEvent[]
  /** Undefined: the block is not open. */
  extendText(index: number, text: string): ModelEvent[] | undefined
  close(index: number): ModelEvent[]
  /** Closes what the vendor has left open. */
  closeAll(): ModelEvent[]
  calls(): number
}

/** `onStray`: a piece of a call that was not opened. */
export function createBlockReader(onUnknown: OnUnknown, onStray: () => never): BlockReader {
  const drafts = new Map<number, Draft>()
  const ids = createCallIds()
  let next = 0
  let calls = 0

  function begin(index: number, opening: Opening): ModelEvent[] {
    const isCall = opening.type === 'tool_use'
    if (isCall) calls += 1
    if (plainKeys[opening.type] === undefined && !vendorBlocks.test(opening.type)) onUnknown('block', opening.type)
    const block = isCall ? { ...opening, id: ids.take(readText(opening.id)) } : opening
    const args = new ArgumentsText()
    const draft: Draft = { index: next, block, json: '', args, text: '', signature: '', citations: [] }
    next += 1
    drafts.set(index, draft)
    return [...startBlock(draft), ...openingOf(draft)]
  }

  function close(index: number): ModelEvent[] {
    const draft = drafts.get(index)
    if (draft === undefined) return []
    const rest = draft.args.settle()
    const settled = rest === '' ? [] : extendInput(index, draft, rest)
    drafts.delete(index)
    return [...settled, ...stopBlock(draft)]
  }

  /** An object after the first one is another call of the same tool. */
  function extendInput(index: number, draft: Draft, text: string): ModelEvent[] {
    const own = draft.args.take(text)
    const part = text.slice(0, own)
    const rest = text.slice(own)
    draft.json += part
    const events: ModelEvent[] =
      draft.block.type === 'tool_use' ? [{ type: 'args_delta', index: draft.index, json: part }] : []
    if (rest === '') return events
    const again = [...close(index), ...begin(index, { ...draft.block, id: '', input: {} })]
    const opened = drafts.get(index)
    return [...events, ...again, ...(opened === undefined ? [] : extendInput(index, opened, rest))]
  }

  function openFor({ index, delta }: DeltaFrame): ModelEvent[] {
    const opening = openings[delta.type]
    if (opening !== undefined) return begin(index, opening)
    return delta.type === 'input_json_delta' ? onStray() : []
  }

  return {
    // An index that is used again is another block.
    open: (index, opening) => [...close(index), ...begin(index, opening)],
    extend(frame) {
      const { index, delta } = frame
      const opened = drafts.has(index) ? [] : openFor(frame)
      const draft = drafts.get(index)
      if (draft === undefined) return opened
      if (delta.type === 'input_json_delta')
        return [...opened, ...extendInput(index, draft, draft.args.addition(delta.partial_json ?? ''))]
      return [...opened, ...extendBlock(frame, draft, onUnknown)]
    },
    extendText(index, text) {
      const draft = drafts.get(index)
      return draft === undefined ? undefined : extendText(draft, text)
    },
    close,
    closeAll: () => [...drafts.keys()].flatMap(close),
    calls: () => calls,
  }
}
