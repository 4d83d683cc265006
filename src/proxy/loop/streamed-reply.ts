// Turns the events of the loop into the events of one answer, as if a single model had given it.
import type { LoopEvent } from '../../llm/loop/loop.ts'
import type { FinishReason } from '../../llm/loop/loop-state.ts'
import { describeCall, describeResult, describeResultLine, makeServerCallId } from '../../llm/loop/server-calls.ts'
import { type ModelEvent, type StopReason, toolUsesOf } from '../../llm/messages/messages.ts'
import { createBlockOrder } from './block-order.ts'
import { createTotals } from './totals.ts'

export type ReplyOptions = {
  /** How calls of the service's tools appear: as blocks, or as text where a client would take them for its own. */
  shows: 'blocks' | 'text'
  /** Whether the caller runs this tool itself. */
  isExternal(name: string): boolean
  session: string
}

export type StreamedReply = {
  read(event: LoopEvent): ModelEvent[]
}

type Shown = { id: string; name: string; result?: string }

type Order = ReturnType<typeof createBlockOrder>

/** Results in call order, each as soon as all earlier ones are there. */
function createResults({ shows }: ReplyOptions, order: Order) {
  let calls: Shown[] = []
  /** How many of them have been shown. */
  let shown = 0
  /** Ids are not necessarily unique. */
  let unanswered = new Map<string, Shown[]>()

  function describe({ name, result }: Required<Shown>): string {
    if (shows === 'blocks') return describeResult(name, result)
    return `${describeResultLine(name, result)}${shown === calls.length ? '\n\n' : '\n'}`
  }

  return {
    /** Server calls of the last turn. */
    expect(expected: Shown[]): void {
      calls = expected
      shown = 0
      unanswered = Map.groupBy(expected, ({ id }) => id)
    },
    read(id: string, content: string): ModelEvent[] {
      const answered = unanswered.get(id)?.shift()
      if (answered !== undefined) answered.result = content
      const events: ModelEvent[] = []
      for (let call = calls[shown]; call?.result !== undefined; call = calls[shown]) {
        shown += 1
        events.push(...order.addText(describe(call as Required<Shown>)))
      }
      return events
    },
  }
}

type Stop = Extract<ModelEvent, { type: 'stop' }>

/** The model's output in each turn, as parts of the one answer. */
function createTurns({ isExternal, shows, session }: ReplyOptions, order: Order) {
  const totals = createTotals()
  const hidden = new Set<number>()
  const told = { start: false, usage: false }
  let stop: Stop | undefined

  function count(): ModelEvent[] {
    const { usage, raw } = totals.sum()
    return [{ type: 'usage', usage, raw }]
  }

  function readBlock(event: Extract<ModelEvent, { index: number }>): ModelEvent[] {
    if (event.type !== 'tool_use_start' || isExternal(event.name)) {
      return hidden.has(event.index) ? [] : order.push(event)
    }
    if (shows === 'blocks') return order.push({ ...event, id: makeServerCallId({ session, id: event.id }) })
    hidden.add(event.index)
    return []
  }

  function once(what: keyof typeof told, events: () => ModelEvent[]): ModelEvent[] {
    if (told[what]) return []
    told[what] = true
    return events()
  }

  return {
    count,
    stop: () => stop,
    endCall(): ModelEvent[] {
      totals.endCall()
      hidden.clear()
      return order.endTurn()
    },
    read(event: ModelEvent): ModelEvent[] {
      if ('index' in event) return readBlock(event)
      if (event.type === 'start') return once('start', () => [event])
      if (event.type === 'stop') stop = event
      if (event.type !== 'usage') return []
      totals.note(event)
      return once('usage', count)
    },
  }
}

export function createStreamedReply(options: ReplyOptions): StreamedReply {
  const order = createBlockOrder()
  const results = createResults(options, order)
  const turns = createTurns(options, order)

  function readTurn({ turn }: Extract<LoopEvent, { type: 'turn' }>): ModelEvent[] {
    const calls = toolUsesOf(turn.message).filter((use) => !options.isExternal(use.name))
    results.expect(calls.map(({ id, name }) => ({ id, name })))
    const closed = turns.endCall()
    if (options.shows === 'blocks' || calls.length === 0) return closed
    const { session } = options
    const lines = calls.map((call) => describeCall({ ...call, id: makeServerCallId({ session, id: call.id }) }))
    return [...closed, ...order.addText(`\n\n${lines.join('\n')}\n`)]
  }

  function finish({ reason, closing }: Extract<LoopEvent, { type: 'finished' }>): ModelEvent[] {
    if (reason === 'error' || reason === 'cancelled') return []
    const closed = turns.endCall()
    const text = closing === undefined ? [] : order.addText(closing)
    return [...closed, ...text, ...turns.count(), stopEventOf(reason, turns.stop())]
  }

  return {
    read(event) {
      switch (event.type) {
        case 'model':
          return event.events.flatMap(turns.read)
        case 'turn':
          return readTurn(event)
        case 'tool_result':
          return results.read(event.call.id, event.result.content)
        case 'discarded':
          return turns.endCall()
        case 'finished':
          return finish(event)
        default:
          return []
      }
    },
  }
}

const reasons: Partial<Record<FinishReason, StopReason>> = {
  external_tools: 'tool_use',
  max_tokens: 'max_tokens',
  refusal: 'refusal',
}

/** How the last turn stopped, unless the loop itself ended the answer. */
export function stopEventOf(
  reason: FinishReason,
  last: Extract<ModelEvent, { type: 'stop' }> | undefined,
): Extract<ModelEvent, { type: 'stop' }> {
  const isModels = reason !== 'deadline' && reason !== 'iterations'
  // The call may be cut off in the middle: a client that takes it for complete would run it.
  if (reason === 'external_tools' && last?.reason === 'max_tokens') return last
  if (isModels && last !== undefined && (reasons[reason] ?? last.reason) === last.reason) return last
  return { type: 'stop', reason: reasons[reason] ?? 'end_turn' }
}
