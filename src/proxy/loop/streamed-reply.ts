// Turns the events of the loop into the events of one answer, as if a single model had given it.
import type { JsonObject } from '../../lib/json.ts'
import type { LoopEvent } from '../../llm/loop/loop.ts'
import type { FinishReason, LoopState } from '../../llm/loop/loop-state.ts'
import { describeCall, describeResult, describeResultLine, makeServerCallId } from '../../llm/loop/server-calls.ts'
import { addCounts, type WholeAnswer } from '../../llm/messages/answer.ts'
import {
  addUsage,
  type ContentBlock,
  type ModelEvent,
  noUsage,
  type Raw,
  type StopReason,
  type TokenUsage,
  type Turn,
  toolUsesOf,
} from '../../llm/messages/messages.ts'
import { type Seal, sealBlocks, sealSignature, writeSeal } from '../../llm/messages/seal.ts'
import { createBlockOrder } from './block-order.ts'
import { createSignedCalls, describeSigned, signFirstCall } from './signed-turns.ts'

export type ReplyOptions = {
  /** How calls of the service's tools appear: as blocks, or as text where a client would take them for its own. */
  shows: 'blocks' | 'text'
  /** Whether the caller runs this tool itself. */
  isExternal(name: string): boolean
  session: string
  /**
   * What a vendor wants back with its turn is given to the caller as seals: in blocks that the caller takes for signed thinking; in
   * items, which a caller may bring to any vendor, so that signatures are sealed too; or, where the caller has fields for all but
   * what a vendor has signed, in such fields.
   */
  seals: 'blocks' | 'items' | 'fields'
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
type BlockEvent = Extract<ModelEvent, { index: number }>

/** Who makes the present turn, and what it has of its own. */
type Made = { origin: string | undefined; field: string | undefined; attached: JsonObject | undefined }

function noteMade(made: Made, event: ModelEvent): void {
  if (event.type === 'block_start') made.field = event.field ?? made.field
  else if (event.type === 'attached') made.attached = event.fields
  else if (event.type === 'start') made.origin = event.origin
}

/** The model's output in each turn, as parts of the one answer. */
function createTurns(
  { isExternal, shows, session, seals }: ReplyOptions,
  { order, made }: { order: Order; made: Made },
) {
  const totals = createTotals()
  const hidden = new Set<number>()
  const signed = seals === 'fields' ? createSignedCalls() : undefined
  const signatures = new Map<number, string>()
  const sent = { start: false, usage: false }
  let stop: Stop | undefined

  function count(): ModelEvent[] {
    const { usage, raw } = totals.sum()
    return [{ type: 'usage', usage, raw }]
  }

  function readBlock(event: BlockEvent): ModelEvent[] {
    if (event.type !== 'tool_use_start') return hidden.has(event.index) ? [] : sealSigned(event).flatMap(order.push)
    if (isExternal(event.name)) return [...sealCall(event), ...order.push(signed?.sign(event) ?? event)]
    if (shows === 'blocks')
      return [...sealCall(event), ...order.push({ ...event, id: makeServerCallId({ session, id: event.id }) })]
    hidden.add(event.index)
    return []
  }

  /** Before the call, where clients expect what was thought. */
  function sealCall({ id, index, raw }: Event<'tool_use_start'>): ModelEvent[] {
    const { origin } = made
    if (seals === 'fields' || origin === undefined || raw?.family !== 'llmo') return []
    return sealBlock(index, { origin, calls: { [id]: raw.json } })
  }

  /** A signature may come in pieces, and is sealed as a whole. */
  function sealSigned(event: Exclude<BlockEvent, Event<'tool_use_start'>>): BlockEvent[] {
    const { origin } = made
    if (seals !== 'items' || origin === undefined) return [event]
    switch (event.type) {
      case 'block':
        return [{ ...event, block: sealSignature(event.block, origin) as typeof event.block }]
      case 'signature_delta':
        signatures.set(event.index, (signatures.get(event.index) ?? '') + event.signature)
        return []
      case 'block_stop':
        return [...endSigned(event.index, origin), event]
      default:
        return [event]
    }
  }

  function endSigned(index: number, origin: string): BlockEvent[] {
    const written = signatures.get(index)
    signatures.delete(index)
    if (written === undefined) return []
    const signature = writeSeal({ origin, signed: [{ type: 'thinking', text: '', signature: written }] })
    return [{ type: 'signature_delta', index, signature }]
  }

  /** Under a number that the vendor does not use. */
  function sealBlock(index: number, seal: Seal): ModelEvent[] {
    return order.push({ type: 'block', index: -1 - index, block: { type: 'redacted_thinking', data: writeSeal(seal) } })
  }

  function once(what: keyof typeof sent, events: () => ModelEvent[]): ModelEvent[] {
    if (sent[what]) return []
    sent[what] = true
    return events()
  }

  return {
    count,
    stop: () => stop,
    endCall(): ModelEvent[] {
      totals.endCall()
      hidden.clear()
      const { origin, attached } = made
      const sealed = attached && origin !== undefined && seals !== 'fields' ? sealBlock(0, { origin, attached }) : []
      const closed = [...sealed, ...order.endTurn()]
      Object.assign(made, { origin: undefined, field: undefined, attached: undefined })
      return closed
    },
    read(event: ModelEvent): ModelEvent[] {
      noteMade(made, event)
      signed?.note(event)
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
  const made: Made = { origin: undefined, field: undefined, attached: undefined }
  const order = createBlockOrder(() => {
    const { origin, field } = made
    return options.seals !== 'fields' && origin !== undefined && field !== undefined
      ? writeSeal({ origin, field })
      : undefined
  })
  const results = createResults(options, order)
  const turns = createTurns(options, { order, made })

  let attached: JsonObject | undefined
  let signedTurns = 0

  /** With its turn: the caller gets several as one message. */
  function giveSigned({ message }: Turn): ModelEvent[] {
    const fields = options.seals === 'fields' ? describeSigned(message, signedTurns) : undefined
    if (fields === undefined) return []
    signedTurns += 1
    return [{ type: 'attached', fields }]
  }

  function readTurn({ turn }: Extract<LoopEvent, { type: 'turn' }>): ModelEvent[] {
    attached = turn.message.attached
    const calls = toolUsesOf(turn.message).filter((use) => !options.isExternal(use.name))
    results.expect(calls.map(({ id, name }) => ({ id, name })))
    const closed = [...turns.endCall(), ...giveSigned(turn)]
    if (options.shows === 'blocks' || calls.length === 0) return closed
    const { session } = options
    const lines = calls.map((call) => describeCall({ ...call, id: makeServerCallId({ session, id: call.id }) }))
    return [...closed, ...order.addText(`\n\n${lines.join('\n')}\n`)]
  }

  function finish({ reason, closing }: Extract<LoopEvent, { type: 'finished' }>): ModelEvent[] {
    if (reason === 'error' || reason === 'cancelled') return []
    const closed = turns.endCall()
    // Earlier turns are one text with this one for a caller of the vendor's family.
    const fields =
      attached === undefined || options.seals !== 'fields' ? [] : [{ type: 'attached' as const, fields: attached }]
    const text = closing === undefined ? [] : order.addText(closing)
    return [...closed, ...text, ...fields, ...turns.count(), stopEventOf(reason, turns.stop())]
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

type Event<T extends ModelEvent['type']> = Extract<ModelEvent, { type: T }>

export type WholeReply = {
  read(event: LoopEvent): void
  answer(state: LoopState): WholeAnswer
}

export function createWholeReply(options: ReplyOptions): WholeReply {
  const totals = createTotals()
  let start: Event<'start'> | undefined
  let stop: Event<'stop'> | undefined
  let turn: Turn | undefined

  function readModel(event: ModelEvent): void {
    if (event.type === 'start') start = event
    if (event.type === 'usage') totals.note(event)
    if (event.type === 'stop') stop = event
  }

  /** For a caller of the vendor's family; others get it as a seal. */
  function attachedOf(last: Turn | undefined): Pick<WholeAnswer, 'attached'> {
    if (options.seals !== 'fields' || last === undefined) return {}
    const attached = { ...last.message.attached, ...describeSigned(last.message) }
    return Object.keys(attached).length === 0 ? {} : { attached }
  }

  function contentOfTurn(last: Turn | undefined): ContentBlock[] {
    if (last === undefined) return []
    if (options.seals === 'fields') return signFirstCall(last.message)
    const sealed = sealBlocks(last.message)
    const { origin } = last.message
    return options.seals === 'blocks' || origin === undefined
      ? sealed
      : sealed.map((block) => sealSignature(block, origin))
  }

  function contentOf(state: LoopState): ContentBlock[] {
    const { reason } = state.finished ?? { reason: 'answer' }
    if (reason === 'deadline') return [{ type: 'text', text: state.text }]
    const content = contentOfTurn(turn)
    if (reason === 'iterations') return content.filter((block) => block.type !== 'tool_use')
    return reason === 'external_tools' ? showCalls(content, state, options) : content
  }

  return {
    read(event) {
      if (event.type === 'model') event.events.forEach(readModel)
      if (event.type === 'turn') turn = event.turn
      if (event.type === 'turn' || event.type === 'discarded') totals.endCall()
    },
    answer(state) {
      const { usage, raw } = totals.sum()
      const end = stopEventOf(state.finished?.reason ?? 'answer', stop)
      return {
        model: start?.model ?? '',
        content: contentOf(state),
        usage,
        ...attachedOf(turn),
        untouched: isUntouched(state, options),
        stopReason: end.reason,
        stopSequence: end.stopSequence,
        rawUsage: raw,
        ...(start?.raw === undefined ? {} : { raw: start.raw }),
        rawStop: end.raw,
      }
    },
  }
}

function isUntouched({ llmCalls, pending, finished }: LoopState, { isExternal }: ReplyOptions): boolean {
  const isModels = finished?.reason !== 'deadline' && finished?.reason !== 'iterations'
  return llmCalls === 1 && isModels && pending.every(({ name }) => isExternal(name))
}

/**
 * The client's own calls unchanged; the service's calls and their results as text that is recognized when it comes
 * back.
 */
function showCalls(content: ContentBlock[], { pending }: LoopState, options: ReplyOptions): ContentBlock[] {
  const isLine = options.shows === 'text'
  const textBlock = (text: string): ContentBlock => ({ type: 'text', text: isLine ? `\n${text}\n` : text })
  const shown = content.map((block): ContentBlock => {
    if (block.type !== 'tool_use' || options.isExternal(block.name)) return block
    const id = makeServerCallId({ session: options.session, id: block.id })
    return textBlock(describeCall({ ...block, id }))
  })
  const describe = isLine ? describeResultLine : describeResult
  const results = pending.flatMap(({ name, result }) =>
    result === undefined ? [] : [textBlock(describe(name, result.content))],
  )
  return [...shown, ...results]
}

type Counted = { usage: TokenUsage; raw?: Raw }

export type Totals = {
  note(event: Extract<ModelEvent, { type: 'usage' }>): void
  /** The current call has ended. */
  endCall(): void
  sum(): Counted
}

function addCounted(a: Counted, b: Counted): Counted {
  const usage = addUsage(a.usage, b.usage)
  if (a.raw === undefined || b.raw === undefined)
    return { usage, ...((a.raw ?? b.raw) ? { raw: a.raw ?? b.raw } : {}) } as Counted
  // A fallback of the other family counts differently: then only the neutral numbers are correct.
  if (a.raw.family !== b.raw.family) return { usage }
  return { usage, raw: { family: a.raw.family, json: addCounts(a.raw.json, b.raw.json) } }
}

export function createTotals(): Totals {
  let before: Counted = { usage: noUsage }
  let present: Counted = { usage: noUsage }
  return {
    note: ({ usage, raw }) => {
      present = { usage, raw }
    },
    endCall() {
      before = addCounted(before, present)
      present = { usage: noUsage }
    },
    sum: () => addCounted(before, present),
  }
}
