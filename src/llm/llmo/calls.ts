// The tool calls of an answer, from fragments: told apart by what they are, since servers number and name them as they like.
import type { JsonObject } from '../../lib/json.ts'
import { createCallIds } from '../messages/answer.ts'
import { ArgumentsText } from '../messages/call-arguments.ts'
import type { ModelEvent, Raw } from '../messages/messages.ts'
import type { LlmoCallPart } from './schema.ts'

/** One call as it arrives. */
type Draft = {
  index: number
  /** As the vendor wrote it. */
  vendorId?: string
  name?: string
  args: ArgumentsText
  /** Arguments that are not passed on yet: they came before the name, or may be a placeholder. */
  early: string
  /** The whole text while it is short, to recognise a call that is sent twice. */
  text: string
  /** What the vendor wants back with it (thought signatures). */
  extra: JsonObject
}

function readArguments(part: LlmoCallPart): string {
  const args = part.function?.arguments ?? ''
  return typeof args === 'string' ? args : JSON.stringify(args)
}

function readExtra(part: LlmoCallPart): JsonObject {
  const { index: _index, id: _id, type: _type, function: _function, ...extra } = part
  return extra
}

/** Some servers write that they have none. */
function readId({ id }: LlmoCallPart): string | undefined {
  return id && id !== 'null' ? id : undefined
}

function rawOf(extra: JsonObject): { raw?: Raw } {
  return Object.keys(extra).length === 0 ? {} : { raw: { family: 'llmo', json: extra } }
}

/** What some servers send first, before the arguments. */
const placeholder = '{}'

export type CallReader = {
  /** A fragment of a stream. */
  push(part: LlmoCallPart): ModelEvent[]
  /** One call of a list that is whole: nothing else belongs to it. */
  pushWhole(part: LlmoCallPart): ModelEvent[]
  /** The end of the answer; `isCut`: where it was cut, the last arguments are not known to be what they seem. */
  close(isCut: boolean): ModelEvent[]
  count(): number
  /** Whether a call has no name, so that nobody can run it. */
  hasNameless(): boolean
}

/** `takeIndex` numbers the blocks of the answer. */
export function createCallReader(takeIndex: () => number): CallReader {
  const drafts: Draft[] = []
  const current = new Map<string, Draft>()
  const ids = createCallIds()
  let last: Draft | undefined

  function open(key: string | undefined, vendorId?: string): Draft {
    const draft: Draft = { index: takeIndex(), args: new ArgumentsText(), early: '', text: '', extra: {} }
    if (vendorId !== undefined) draft.vendorId = vendorId
    drafts.push(draft)
    if (key !== undefined) current.set(key, draft)
    return draft
  }

  /** The draft that a fragment without an index goes on with. */
  function findByName(id: string | undefined, name: string | undefined): Draft | undefined {
    const known = id === undefined ? undefined : drafts.findLast((draft) => draft.vendorId === id)
    if (known !== undefined || last === undefined || last.args.isWhole) return known
    return name === undefined || (id === undefined && name === last.name) ? last : undefined
  }

  /** Whether a fragment belongs to another call than the one that has its place. */
  function isAnother(draft: Draft, id: string | undefined, { name, text }: { name: string | undefined; text: string }) {
    if (name !== undefined && draft.name !== undefined && name !== draft.name) return true
    if (id === undefined || draft.vendorId === undefined || id === draft.vendorId) return false
    // Some servers make up an id for each fragment.
    return name !== undefined || (draft.args.isWhole && text.trim() !== '')
  }

  function findDraft(part: LlmoCallPart, name: string | undefined, text: string): Draft {
    const id = readId(part)
    const key = typeof part.index === 'number' ? String(part.index) : undefined
    const known = key === undefined ? findByName(id, name) : current.get(key)
    if (known === undefined || isAnother(known, id, { name, text })) return open(key, id)
    if (id !== undefined) known.vendorId ??= id
    return known
  }

  function start(draft: Draft, name: string): ModelEvent[] {
    draft.name = name
    return [
      { type: 'tool_use_start', index: draft.index, id: ids.take(draft.vendorId), name, ...rawOf({ ...draft.extra }) },
    ]
  }

  function write(draft: Draft, text: string): ModelEvent[] {
    draft.text += text
    draft.early += text
    const isHeld = draft.name === undefined || draft.early.trim() === placeholder
    return isHeld ? [] : flush(draft)
  }

  function flush(draft: Draft): ModelEvent[] {
    const json = draft.early
    draft.early = ''
    return json === '' ? [] : [{ type: 'args_delta', index: draft.index, json }]
  }

  /** Text of the arguments; an object after the first one is another call of the same tool. */
  function extend(draft: Draft, text: string): ModelEvent[] {
    if (text === '') return []
    const own = draft.args.take(text)
    const rest = text.slice(own)
    const events = own === 0 ? [] : write(draft, text.slice(0, own))
    if (rest === '') return events
    if (draft.early.trim() === placeholder) {
      Object.assign(draft, { args: new ArgumentsText(), early: '', text: '' })
      return [...events, ...extend(draft, rest)]
    }
    const next = openAfter(draft)
    return [...events, ...(draft.name === undefined ? [] : start(next, draft.name)), ...extend(next, rest)]
  }

  function openAfter(draft: Draft): Draft {
    const key = [...current].find(([, one]) => one === draft)?.[0]
    last = open(key)
    return last
  }

  /** A server may close with the calls that it has already streamed. */
  function isRepeated(draft: Draft, part: LlmoCallPart, text: string): boolean {
    return (
      draft.args.isWhole &&
      draft.text === text &&
      text !== '' &&
      readId(part) === draft.vendorId &&
      draft.vendorId !== undefined
    )
  }

  function take(draft: Draft, part: LlmoCallPart, text: string): ModelEvent[] {
    last = draft
    if (isRepeated(draft, part, text)) return []
    Object.assign(draft.extra, readExtra(part))
    const name = part.function?.name || undefined
    const started = name !== undefined && draft.name === undefined ? start(draft, name) : []
    const early = started.length > 0 && draft.early.trim() !== placeholder ? flush(draft) : []
    return [...started, ...early, ...extend(draft, draft.args.addition(text))]
  }

  return {
    push(part) {
      const text = readArguments(part)
      return take(findDraft(part, part.function?.name || undefined, text), part, text)
    },
    pushWhole: (part) => take(open(undefined, readId(part)), part, readArguments(part)),
    close(isCut) {
      const settled = drafts.flatMap((draft) => extend(draft, draft.args.settle()))
      const named = drafts.filter((draft) => draft.name !== undefined)
      const closed = named.flatMap((draft): ModelEvent[] => [
        ...(isCut && draft === named.at(-1) ? [] : flush(draft)),
        { type: 'block_stop', index: draft.index, ...rawOf(draft.extra) },
      ])
      return [...settled, ...closed]
    },
    count: () => drafts.length,
    hasNameless: () => drafts.some((draft) => draft.name === undefined),
  }
}
