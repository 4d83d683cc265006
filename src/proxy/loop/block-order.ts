// Merges the blocks of all turns of the loop into one answer: indexes increase throughout and blocks never overlap
// (PROXY-009).
import type { ModelEvent } from '../../llm/messages/messages.ts'

type BlockEvent = Extract<ModelEvent, { index: number }>

type Open = { local: number; index: number; kind: 'text' | 'thinking' | 'tool_use'; signed: boolean }

export type BlockOrder = {
  /** One event of the current turn, whose indexes start at 0. */
  push(event: BlockEvent): ModelEvent[]
  /** A complete text from the service itself. */
  addText(text: string): ModelEvent[]
  /** Closes open blocks; the next event belongs to another turn. */
  endTurn(): ModelEvent[]
}

function kindOf(event: BlockEvent): Open['kind'] | undefined {
  if (event.type === 'block_start') return event.block
  if (event.type === 'text_delta' || event.type === 'raw_delta') return 'text'
  if (event.type === 'thinking_delta' || event.type === 'signature_delta') return 'thinking'
  return event.type === 'tool_use_start' ? 'tool_use' : undefined
}

function isStart({ type }: BlockEvent): boolean {
  return type === 'block_start' || type === 'tool_use_start' || type === 'block'
}

/** A complete text as one block. */
function writeText(index: number, text: string): ModelEvent[] {
  return [
    { type: 'block_start', index, block: 'text' },
    { type: 'text_delta', index, text },
    { type: 'block_stop', index },
  ]
}

/** Events of blocks that wait until the open tool call is complete, in order of arrival. */
function createWaiting() {
  const buffered = new Map<number, BlockEvent[]>()

  function take(index: number): BlockEvent[] | undefined {
    const events = buffered.get(index)
    buffered.delete(index)
    return events
  }

  return {
    add(event: BlockEvent): void {
      const events = buffered.get(event.index)
      if (events === undefined) buffered.set(event.index, [event])
      else events.push(event)
    },
    take,
    takeFirst(): BlockEvent[] {
      const [first] = buffered.keys()
      return first === undefined ? [] : (take(first) ?? [])
    },
    isEmpty: () => buffered.size === 0,
  }
}

/** `seal`: the signature of thinking that its vendor has not signed. */
export function createBlockOrder(seal: () => string | undefined = () => undefined): BlockOrder {
  let next = 0
  let open: Open | undefined
  const waiting = createWaiting()

  function closeOpen(): ModelEvent[] {
    if (open === undefined) return []
    const { index } = open
    const signed = sign(open)
    open = undefined
    return [...signed, { type: 'block_stop', index }]
  }

  function sign({ index, kind, signed }: Open): ModelEvent[] {
    const signature = kind === 'thinking' && !signed ? seal() : undefined
    return signature === undefined ? [] : [{ type: 'signature_delta', index, signature }]
  }

  function start(event: BlockEvent): ModelEvent[] {
    const closed = closeOpen()
    if (event.type === 'block') return [...closed, { ...event, index: next++ }]
    const kind = kindOf(event)
    if (kind === undefined) return closed
    open = { local: event.index, index: next++, kind, signed: event.type === 'signature_delta' }
    const { index } = open
    if (event.type === 'block_start' || event.type === 'tool_use_start') return [...closed, { ...event, index }]
    if (kind === 'tool_use') return closed
    // A text that continues after another block started.
    return [...closed, { type: 'block_start', index, block: kind }, { ...event, index }]
  }

  /** An event of the open block. */
  function goOn(event: BlockEvent): ModelEvent[] {
    if (open === undefined) return []
    const { index } = open
    open.signed ||= event.type === 'signature_delta'
    if (event.type !== 'block_stop') return [event.index === index ? event : { ...event, index }]
    const signed = sign(open)
    open = undefined
    return [...signed, { ...event, index }, ...drain()]
  }

  function drain(): ModelEvent[] {
    return waiting.takeFirst().flatMap(push)
  }

  /** An event of a block that is not open, while no call is. Earlier events may wait behind a text that continues. */
  function turnTo(event: BlockEvent): ModelEvent[] {
    const buffered = waiting.take(event.index)
    return buffered === undefined ? start(event) : [...buffered, event].flatMap(push)
  }

  function push(event: BlockEvent): ModelEvent[] {
    // A vendor that reuses an index starts another block.
    if (open?.local === event.index) return isStart(event) ? start(event) : goOn(event)
    if (open?.kind !== 'tool_use') return turnTo(event)
    waiting.add(event)
    return []
  }

  function endTurn(): ModelEvent[] {
    const events = closeOpen()
    while (!waiting.isEmpty()) {
      for (const event of [...drain(), ...closeOpen()]) events.push(event)
    }
    return events
  }

  return {
    push,
    endTurn,
    addText(text) {
      const index = next
      next += 1
      return writeText(index, text)
    },
  }
}
