import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelEvent } from '../../llm/messages/messages.ts'
import { createBlockOrder } from './block-order.ts'

type BlockEvent = Extract<ModelEvent, { index: number }>

const text = (index: number, value: string): BlockEvent => ({ type: 'text_delta', index, text: value })
const openText = (index: number): BlockEvent => ({ type: 'block_start', index, block: 'text' })
const openCall = (index: number): BlockEvent => ({ type: 'tool_use_start', index, id: `c${index}`, name: 'x' })
const args = (index: number, json: string): BlockEvent => ({ type: 'args_delta', index, json })
const stop = (index: number): BlockEvent => ({ type: 'block_stop', index })

function run(turns: BlockEvent[][]): ModelEvent[] {
  const order = createBlockOrder()
  return turns.flatMap((turn) => [...turn.flatMap(order.push), ...order.endTurn()])
}

/** What a strict client insists on. */
function checkOrder(events: ModelEvent[]): void {
  let open: number | undefined
  let next = 0
  for (const event of events) {
    if (!('index' in event)) throw new Error('no block event')
    if (event.type === 'block_start' || event.type === 'tool_use_start') {
      expect([open, event.index]).toEqual([undefined, next])
      open = event.index
      next += 1
      continue
    }
    expect(event.index).toBe(open)
    if (event.type === 'block_stop') open = undefined
  }
  expect(open).toBeUndefined()
}

/** Blocks with an odd number are calls. Each begins with its first step and ends with its first stop. */
function writeBlocks(steps: { index: number; kind: string }[]): BlockEvent[] {
  const states = new Map<number, string>()
  return steps.flatMap(({ index, kind }) => {
    const state = states.get(index)
    if (state === 'stop') return []
    states.set(index, kind)
    const [open, extend] = index % 2 === 1 ? [openCall(index), args(index, '1')] : [openText(index), text(index, '1')]
    return [...(state === undefined ? [open] : []), kind === 'stop' ? stop(index) : extend]
  })
}

describe('the order of blocks', () => {
  it('continues its numbering from turn to turn [PROXY-009]', () => {
    const turn = [openText(0), text(0, 'a'), stop(0)]
    expect(run([turn, turn]).map((event) => ('index' in event ? event.index : -1))).toEqual([0, 0, 0, 1, 1, 1])
  })

  it('puts tool calls one after another when their fragments arrive mixed', () => {
    const events = run([[openCall(0), openCall(1), args(1, '{'), args(0, '{}'), args(1, '}'), stop(0), stop(1)]])
    checkOrder(events)
    const written = (index: number) =>
      events.flatMap((event) => (event.type === 'args_delta' && event.index === index ? event.json : [])).join('')
    expect([written(0), written(1)]).toEqual(['{}', '{}'])
  })

  it('keeps fragments of a call that waits behind a text block', () => {
    const turn = [
      openCall(3),
      args(3, '{}'),
      openText(0),
      text(0, 'a'),
      openCall(1),
      args(1, '{'),
      stop(3),
      args(1, '}'),
    ]
    const events = run([turn])
    checkOrder(events)
    expect(events.flatMap((event) => (event.type === 'args_delta' ? event.json : [])).join('')).toBe('{}{}')
  })

  it('opens a new text block when text continues after another block', () => {
    const events = run([[openText(0), text(0, 'a'), openCall(1), stop(1), text(0, 'b'), stop(0)]])
    checkOrder(events)
    expect(events.filter((event) => event.type === 'text_delta')).toHaveLength(2)
  })

  it('ends a block when another with its index begins', () => {
    for (const open of [openText, openCall]) {
      const events = run([[open(0), openText(0), text(0, 'a'), openCall(0), args(0, '{}'), stop(0)]])
      checkOrder(events)
      expect(events.filter((event) => event.type === 'block_stop')).toHaveLength(3)
    }
  })

  it('is valid for any sequence of events, and no event is lost', () => {
    const step = fc.record({ index: fc.nat(3), kind: fc.constantFrom('delta', 'stop') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const turn = writeBlocks(steps)
        const events = run([turn])
        checkOrder(events)
        const count = (all: ModelEvent[], type: string) => all.filter((event) => event.type === type).length
        for (const type of ['text_delta', 'args_delta', 'tool_use_start'])
          expect(count(events, type)).toBe(count(turn, type))
      }),
    )
  })
})
