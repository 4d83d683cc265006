// The items of an answer, one after the other, and the events that tell of them.
import type { JsonObject } from '../../lib/json.ts'
import { type CallWriter, callForms, nameTool, type TextEvents } from './call-items.ts'
import type { DeclaredTool } from './tools.ts'

export type OutputItem = JsonObject & { type: string; id: string }

/** Writes the event of a type. */
export type WriteFrame = (type: string, json: JsonObject) => string

/** The part of an item that contains its text. */
type PartEvents = { added: string; done: string; index: string; encode(text: string): JsonObject }

type Form = { events?: TextEvents | undefined; part?: PartEvents; writer: CallWriter }

/** The item being written. Adjacent texts share one message, so that a call in it and its result come back together. */
type OpenItem = Form & { item: OutputItem; at: number }

function encodeText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function encodeSummary(text: string): JsonObject {
  return { type: 'summary_text', text }
}

function collect(describe: (text: string) => JsonObject): CallWriter {
  let text = ''
  return {
    push(delta) {
      text += delta
      return delta
    },
    end: () => ({ text, fields: describe(text) }),
  }
}

const createMessage = (): Form => ({
  events: { delta: 'response.output_text.delta', done: 'response.output_text.done', whole: 'text' },
  part: {
    added: 'response.content_part.added',
    done: 'response.content_part.done',
    index: 'content_index',
    encode: encodeText,
  },
  writer: collect((text) => ({ content: [encodeText(text)] })),
})

const createReasoning = (): Form => ({
  events: {
    delta: 'response.reasoning_summary_text.delta',
    done: 'response.reasoning_summary_text.done',
    whole: 'text',
  },
  part: {
    added: 'response.reasoning_summary_part.added',
    done: 'response.reasoning_summary_part.done',
    index: 'summary_index',
    encode: encodeSummary,
  },
  writer: collect((text) => ({ summary: [encodeSummary(text)] })),
})

/** Clients of the vendor expect these fields in events about text. */
const textFields: Record<string, JsonObject> = {
  'response.output_text.delta': { logprobs: [] },
  'response.output_text.done': { logprobs: [] },
}

export type ItemStream = {
  /** Those that are complete. */
  readonly output: OutputItem[]
  startMessage(): string
  startReasoning(): string
  startCall(callId: string, tool: DeclaredTool): string
  extend(delta: string): string
  /** Seals the open item of reasoning; it goes on when it is sealed already. */
  seal(signature: string): void
  /** An item of reasoning that says nothing but to the vendor. */
  addSealed(data: string): string
  /** `incomplete`: the model was cut off within it. */
  close(status?: 'completed' | 'incomplete'): string
}

/** How ids of answers begin that the service makes itself. */
export const responseMark = 'resp_svc_'

/** The answer that an item is of; undefined when it is none of the service's. */
export function answerOfItem(id: unknown): string | undefined {
  const [, own] = /^[a-z]+_(svc_[0-9a-z-]+)_\d+$/.exec(typeof id === 'string' ? id : '') ?? []
  return own === undefined ? undefined : `resp_${own}`
}

/** Ids of items are derived from the answer's, so that they are the same in all events, and name it. */
export function createItemStream(answerId: string, frame: WriteFrame): ItemStream {
  const output: OutputItem[] = []
  let open: OpenItem | undefined
  const base = answerId.replace(/^[a-z]+_/, '')

  function locate({ item, at, part }: OpenItem): JsonObject {
    return { item_id: item.id, output_index: at, ...(part && { [part.index]: 0 }) }
  }

  function writeEnd(ended: OpenItem, text: string): string {
    const { events, part, item } = ended
    const where = locate(ended)
    const own = { ...(item.name !== undefined && { name: item.name }), ...textFields[events?.done ?? ''] }
    const done = events === undefined ? '' : frame(events.done, { ...where, ...own, [events.whole]: text })
    return done + (part === undefined ? '' : frame(part.done, { ...where, part: part.encode(text) }))
  }

  function close(status: 'completed' | 'incomplete' = 'completed'): string {
    if (open === undefined) return ''
    const ended = open
    open = undefined
    const { text, fields } = ended.writer.end()
    const hasStatus = ended.item.status !== undefined
    const whole: OutputItem = { ...ended.item, ...(hasStatus && { status }), ...fields }
    output.push(whole)
    return writeEnd(ended, text) + frame('response.output_item.done', { output_index: ended.at, item: whole })
  }

  function start(prefix: string, fields: JsonObject & { type: string }, form: Form): string {
    const closed = close()
    const at = output.length
    const item: OutputItem = { ...fields, id: `${prefix}_${base}_${at}` }
    open = { ...form, item, at }
    const added = frame('response.output_item.added', { output_index: at, item })
    const { part } = form
    return `${closed}${added}${part === undefined ? '' : frame(part.added, { ...locate(open), part: part.encode('') })}`
  }

  return {
    output,
    close,
    extend(delta) {
      if (open === undefined) return ''
      const text = open.writer.push(delta)
      const { events } = open
      if (events === undefined || text === '') return ''
      return frame(events.delta, { ...locate(open), ...textFields[events.delta], delta: text })
    },
    seal(signature) {
      if (open?.item.type !== 'reasoning' || signature === '') return
      const { encrypted_content: before } = open.item
      open.item = { ...open.item, encrypted_content: `${typeof before === 'string' ? before : ''}${signature}` }
    },
    addSealed(data) {
      const fields = { type: 'reasoning', summary: [], encrypted_content: data }
      return start('rs', fields, { writer: { push: () => '', end: () => ({ text: '', fields: {} }) } }) + close()
    },
    startMessage() {
      if (open?.item.type === 'message') return ''
      const fields = { type: 'message', status: 'in_progress', role: 'assistant', content: [] }
      return start('msg', fields, createMessage())
    },
    startReasoning: () => start('rs', { type: 'reasoning', summary: [] }, createReasoning()),
    startCall(callId, tool) {
      const { type, prefix, events, empty, createWriter } = callForms[tool.kind]
      const fields = { type, status: 'in_progress', call_id: callId, ...nameTool(tool), ...empty }
      return start(prefix, fields, { events, writer: createWriter() })
    },
  }
}
