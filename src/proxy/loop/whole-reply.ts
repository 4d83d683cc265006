// The answer in one piece: the last turn of the loop, as the model gave it.

import type { LoopEvent } from '../../llm/loop/loop.ts'
import type { LoopState } from '../../llm/loop/loop-state.ts'
import { describeCall, describeResult, describeResultLine, makeServerCallId } from '../../llm/loop/server-calls.ts'
import type { WholeAnswer } from '../../llm/messages/answer.ts'
import type { ContentBlock, ModelEvent, Turn } from '../../llm/messages/messages.ts'
import { type ReplyOptions, stopEventOf } from './streamed-reply.ts'
import { createTotals } from './totals.ts'

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

  function contentOf(state: LoopState): ContentBlock[] {
    const { reason } = state.finished ?? { reason: 'answer' }
    if (reason === 'deadline') return [{ type: 'text', text: state.text }]
    const content = turn?.message.content ?? []
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
  const say = (text: string): ContentBlock => ({ type: 'text', text: isLine ? `\n${text}\n` : text })
  const shown = content.map((block): ContentBlock => {
    if (block.type !== 'tool_use' || options.isExternal(block.name)) return block
    const id = makeServerCallId({ session: options.session, id: block.id })
    return say(describeCall({ ...block, id }))
  })
  const describe = isLine ? describeResultLine : describeResult
  const results = pending.flatMap(({ name, result }) =>
    result === undefined ? [] : [say(describe(name, result.content))],
  )
  return [...shown, ...results]
}
