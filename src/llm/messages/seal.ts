// What a vendor wants back with a turn, in a form that a client of the other family carries: the signature of a thinking block,
// or the data of a redacted one. It is recognised when it comes back, and never sent to a vendor.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { parseForeignObject } from '../../contract/schema/foreign-json.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { trimTrailing } from '../../lib/trim.ts'
import { type ContentBlock, type Message, toolUsesOf } from './messages.ts'

/** Where a turn of the responses API has what it thought, until it is neutral. */
export const thoughtsField = 'svc_thoughts'

/** How every such text begins. */
export const sealMark = 'svc-turn.'

const raw = z.object({ family: z.literal('llma'), json: z.looseObject({}) }).exactOptional()
const Signed = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thinking'), text: z.string(), signature: z.string(), raw }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string(), raw }),
])
const Fields = z.record(z.string(), z.unknown())

/** A client may have changed it. */
const Seal = z.object({
  /** The vendor that made the turn: nobody else gets any of this. */
  origin: z.string(),
  /** The field that had the text of the thinking. */
  field: z.string().exactOptional(),
  thinking: z.string().exactOptional(),
  /** Other fields of the message. */
  attached: Fields.exactOptional(),
  /** By the id of a call: its fields. */
  calls: Fields.exactOptional(),
  /** Thinking that the vendor has signed itself. */
  signed: z.array(Signed).exactOptional(),
  /** The ids of the calls of the turn, where a client may get several turns as one message. */
  of: z.array(z.string()).exactOptional(),
})
export type Seal = z.infer<typeof Seal>
type SignedBlock = z.infer<typeof Signed>

/** `/v1` and a slash at the end make no other address. */
function plainAddress(address: string): string {
  return trimTrailing(address, '/').replace(/\/v1$/, '').toLowerCase()
}

/** Who makes the turns of a model: its address and, where a gateway has models of several vendors, whose the model is. */
export function vendorOriginOf(address: string, model: string): string {
  const vendor = model.includes('/') ? model.slice(0, model.indexOf('/')) : ''
  // Clients see it, and the address is nobody's business.
  return createHash('sha256')
    .update(`${plainAddress(address)}\n${vendor}`)
    .digest('base64url')
    .slice(0, 16)
}

export function writeSeal(seal: Seal): string {
  return sealMark + Buffer.from(JSON.stringify(seal)).toString('base64url')
}

export function readSeal(text: unknown): Seal | undefined {
  if (typeof text !== 'string' || !text.startsWith(sealMark)) return undefined
  const json = parseForeignObject(Buffer.from(text.slice(sealMark.length), 'base64url').toString())
  return Seal.safeParse(json).data
}

export function isSealed(text: unknown): boolean {
  return typeof text === 'string' && text.startsWith(sealMark)
}

function callFieldsOf({ content }: Message): JsonObject {
  const calls = content.flatMap((block) =>
    block.type === 'tool_use' && block.raw?.family === 'llmo' ? [[block.id, block.raw.json] as const] : [],
  )
  return Object.fromEntries(calls)
}

/** What a message carries beside its neutral form; undefined when there is nothing. */
export function sealOf(message: Message): Seal | undefined {
  const { origin, attached, content } = message
  if (origin === undefined) return undefined
  const thinking = content.find((block) => block.type === 'thinking' && block.field !== undefined)
  const calls = callFieldsOf(message)
  const field = thinking?.type === 'thinking' ? thinking.field : undefined
  if (field === undefined && attached === undefined && Object.keys(calls).length === 0) return undefined
  return {
    origin,
    ...(field !== undefined && { field }),
    ...(attached && { attached }),
    ...(Object.keys(calls).length > 0 && { calls }),
  }
}

/** A signed block whose signature goes to nobody but its vendor; any other as it is. */
export function sealSignature(block: ContentBlock, origin: string): ContentBlock {
  if (!isSigned(block) || isSealed(signatureOf(block))) return block
  if (block.type === 'redacted_thinking') return { ...block, data: writeSeal({ origin, signed: [block] }) }
  // What was thought stands beside it.
  return {
    ...block,
    signature: writeSeal({ origin, signed: [{ ...block, text: '' } as SignedBlock] }),
  } as ContentBlock
}

/** The blocks of a turn for a client that carries signatures. */
export function sealBlocks(message: Message): ContentBlock[] {
  const seal = sealOf(message)
  if (seal === undefined) return message.content
  const signature = writeSeal(seal)
  const at = message.content.findIndex((block) => block.type === 'thinking' && block.field !== undefined)
  if (at === -1) return [{ type: 'redacted_thinking', data: signature }, ...message.content]
  return message.content.map((block, index) => (index === at ? ({ ...block, signature } as ContentBlock) : block))
}

/** A turn's seal with its thinking, for a store that keeps texts and calls alone; undefined when there is nothing to keep. */
export function sealTurn(message: Message): string | undefined {
  const seal = sealOf(message)
  const signed = listSigned(message)
  if (seal === undefined && (signed.length === 0 || message.origin === undefined)) return undefined
  const thinking = message.content.flatMap((block) =>
    block.type === 'thinking' && block.field !== undefined ? [block.text] : [],
  )
  return writeSeal({
    ...(seal ?? { origin: message.origin ?? '' }),
    ...(thinking.length > 0 && { thinking: thinking.join('') }),
    ...(signed.length > 0 && { signed }),
  })
}

function listSigned({ content }: Message): SignedBlock[] {
  return content.filter(isSigned).filter((block) => !isSealed(signatureOf(block)))
}

/** What the vendor of a turn has signed, for a client that has fields for everything else of it. */
export function sealSigned(message: Message): string | undefined {
  const { origin } = message
  const signed = listSigned(message)
  if (origin === undefined || signed.length === 0) return undefined
  return writeSeal({ origin, signed, of: toolUsesOf(message).map(({ id }) => id) })
}

function signatureOf(block: ContentBlock): unknown {
  return block.type === 'thinking' ? block.signature : block.type === 'redacted_thinking' ? block.data : undefined
}

function isSigned(block: ContentBlock): block is SignedBlock {
  return signatureOf(block) !== undefined
}

/** The turn as it was before it was kept. */
export function unsealTurn(message: Message, sealed: string | undefined): Message {
  const seal = readSeal(sealed)
  if (seal === undefined) return message
  const { origin, field, thinking, attached, calls = {}, signed = [] } = seal
  const thought: ContentBlock[] =
    field === undefined || thinking === undefined ? [] : [{ type: 'thinking', text: thinking, field }]
  const content = [...signed, ...thought, ...message.content.map((block) => giveBack(block, calls))]
  return { ...message, content, origin, ...(attached && { attached }) }
}

function unsealBlock(block: ContentBlock, seals: Seal[]): ContentBlock[] {
  if (block.type === 'redacted_thinking' && isSealed(block.data)) {
    const seal = readSeal(block.data)
    if (seal !== undefined) seals.push(seal)
    return seal?.signed ?? []
  }
  if (block.type !== 'thinking' || !isSealed(block.signature)) return [block]
  const seal = readSeal(block.signature)
  if (seal === undefined) return []
  seals.push(seal)
  if (seal.signed !== undefined) return seal.signed.map((signed) => ({ ...signed, text: block.text }) as ContentBlock)
  return [{ type: 'thinking', text: block.text, ...(seal.field !== undefined && { field: seal.field }) }]
}

function giveBack(block: ContentBlock, calls: JsonObject): ContentBlock {
  const fields = block.type === 'tool_use' ? calls[block.id] : undefined
  return isJsonObject(fields) ? ({ ...block, raw: { family: 'llmo', json: fields } } as ContentBlock) : block
}

/** A message that a client sends back, with what its seals hold; the same object when it has none. */
export function unsealMessage(message: Message): Message {
  const seals: Seal[] = []
  const content = message.content.flatMap((block) => unsealBlock(block, seals))
  const [first] = seals
  if (content.length === message.content.length && first === undefined) return message
  if (first === undefined) return { role: message.role, content }
  return { role: message.role, ...joinSeals(first, seals, content) }
}

/** The seals of one message are of one vendor; any other is nobody's. */
function joinSeals(first: Seal, seals: Seal[], content: ContentBlock[]): Omit<Message, 'role'> {
  const own = seals.filter(({ origin }) => origin === first.origin)
  const calls = Object.assign({}, ...own.map((seal) => seal.calls)) as JsonObject
  const attached = Object.assign({}, ...own.map((seal) => seal.attached)) as JsonObject
  return {
    content: content.map((block) => giveBack(block, calls)),
    origin: first.origin,
    ...(Object.keys(attached).length > 0 && { attached }),
  }
}

/** The fields in which clients bring seals back. */
const sealFields = ['signature', 'data', 'thought_signature']

/** What is nothing without its signature. */
const thoughtType = /^((redacted_)?thinking$|reasoning\.)/

/** A value without what is sealed in it; undefined when nothing else is in it. `note` is told of each seal. */
function dropSeals(value: unknown, note: (seal: string) => void): unknown {
  if (Array.isArray(value)) {
    const rest = value.map((item) => dropSeals(item, note)).filter((item) => item !== undefined)
    return rest.length === 0 && value.length > 0 ? undefined : rest
  }
  if (!isJsonObject(value)) return value
  const sealed = sealFields.filter((name) => isSealed(value[name]))
  for (const name of sealed) note(value[name] as string)
  if (sealed.length > 0 && typeof value.type === 'string' && thoughtType.test(value.type)) return undefined
  const rest = Object.entries(value)
    .filter(([name]) => !sealed.includes(name))
    .map(([name, part]) => [name, dropSeals(part, note)])
    .filter(([, part]) => part !== undefined)
  return rest.length === 0 && Object.keys(value).length > 0 ? undefined : Object.fromEntries(rest)
}

/** A turn of the wire without seals, and those that it had. What it calls and says is left alone. */
export function splitSeals(message: JsonObject): { plain: JsonObject; seals: string[] } {
  const seals: string[] = []
  const { [thoughtsField]: thoughts, ...rest } = message
  const plain = dropSeals(rest, (seal) => seals.push(seal))
  if (seals.length === 0) return { plain: message, seals }
  return { plain: { ...(plain as JsonObject), ...(thoughts !== undefined && { [thoughtsField]: thoughts }) }, seals }
}

/** A turn that a client brings back with its seals: the one of these calls counts. */
export function unsealCalls(message: Message, seals: readonly string[]): Message {
  const ids = toolUsesOf(message).map(({ id }) => id)
  const own = seals.find((text) => {
    const { of = [] } = readSeal(text) ?? {}
    return ids.length === 0 ? of.length === 0 : of.some((id) => ids.includes(id))
  })
  return unsealTurn(message, own)
}

function stripMessage(message: unknown): unknown[] {
  if (!isJsonObject(message) || message.role !== 'assistant') return [message]
  const { plain } = splitSeals(message)
  const isBlank = plain.content === undefined && Array.isArray(message.content) && plain.tool_calls === undefined
  return isBlank ? [] : [plain]
}

/** A request's body without seals, for a vendor that gets the caller's bytes; the same bytes when there are none. */
export function stripSeals(body: Buffer): Buffer {
  if (!body.includes(sealMark)) return body
  const json = parseForeignObject(body.toString('utf8'))
  if (!Array.isArray(json?.messages)) return body
  return Buffer.from(JSON.stringify({ ...json, messages: json.messages.flatMap(stripMessage) }))
}
