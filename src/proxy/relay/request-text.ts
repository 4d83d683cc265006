// Reads and changes single fields of a request without parsing it whole: all other bytes go upstream exactly as
// written.
import { SvcError } from '../../errors.ts'

/** The position of a field's value, in bytes. */
export type TextSpan = { start: number; end: number }

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a
/** No client means to send longer options. */
const maxOptionsLength = 4096
/** No vendor has longer names. */
const maxModelLength = 256
/** Shorter strings are searched here, longer ones with the native search. */
const shortString = 32

function fail(at: number): never {
  throw new SvcError('InvalidRequest', `the body is not a valid JSON object (byte ${at})`)
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

function skipBlanks(bytes: Buffer, from: number): number {
  let at = from
  while (isBlank(bytes[at])) at += 1
  return at
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at - 1
  while (bytes[before] === backslash) before -= 1
  return (at - before) % 2 === 0
}

/** The position after the closing quote of the string that starts at `start`. */
function skipString(bytes: Buffer, start: number): number {
  const near = Math.min(bytes.length, start + shortString)
  let at = start + 1
  while (at < near) {
    const byte = bytes[at]
    if (byte === quote) return at + 1
    at += byte === backslash ? 2 : 1
  }
  for (at = bytes.indexOf(quote, at); at !== -1; at = bytes.indexOf(quote, at + 1)) {
    if (!isEscaped(bytes, at)) return at + 1
  }
  return fail(start)
}

function nestBy(byte: number | undefined): number {
  if (byte === openBrace || byte === openBracket) return 1
  return byte === closeBrace || byte === closeBracket ? -1 : 0
}

/** The position after the object or list that starts at `start`. */
export function skipNested(bytes: Buffer, start: number): number {
  let depth = 0
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at]
    if (byte === quote) {
      at = skipString(bytes, at)
      continue
    }
    depth += nestBy(byte)
    at += 1
    if (depth === 0) return at
  }
  return fail(start)
}

function skipScalar(bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== comma && bytes[at] !== closeBrace && !isBlank(bytes[at])) at += 1
  return at === start ? fail(start) : at
}

function skipValue(bytes: Buffer, start: number): number {
  const byte = bytes[start]
  if (byte === quote) return skipString(bytes, start)
  return byte === openBrace || byte === openBracket ? skipNested(bytes, start) : skipScalar(bytes, start)
}

function parseSpan(bytes: Buffer, { start, end }: TextSpan): unknown {
  try {
    return JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    return fail(start)
  }
}

type Field = { name: string; value: TextSpan }

function isNested(bytes: Buffer, { start }: TextSpan): boolean {
  return nestBy(bytes[start]) === 1
}

/** The field at `at`, and where the text continues; escapes in its name are decoded. */
function readField(bytes: Buffer, at: number): { field: Field; next: number } {
  if (bytes[at] !== quote) fail(at)
  const name: TextSpan = { start: at, end: skipString(bytes, at) }
  const separator = skipBlanks(bytes, name.end)
  if (bytes[separator] !== colon) fail(separator)
  const start = skipBlanks(bytes, separator + 1)
  const end = skipValue(bytes, start)
  return { field: { name: readName(bytes, name), value: { start, end } }, next: skipBlanks(bytes, end) }
}

/** Only plain names matter; any other byte keeps a name different from those. */
function readName(bytes: Buffer, name: TextSpan): string {
  const text = bytes.toString('latin1', name.start + 1, name.end - 1)
  return text.includes('\\') ? String(parseSpan(bytes, name)) : text
}

/** Calls `visit` for each field of the object. */
function visitFields(bytes: Buffer, visit: (name: string, span: TextSpan) => void): void {
  let at = skipBlanks(bytes, 0)
  if (bytes[at] !== openBrace) fail(at)
  at = skipBlanks(bytes, at + 1)
  while (bytes[at] !== closeBrace) {
    const { field, next } = readField(bytes, at)
    visit(field.name, field.value)
    at = next
    if (bytes[at] === closeBrace) break
    if (bytes[at] !== comma) fail(at)
    at = skipBlanks(bytes, at + 1)
    if (bytes[at] === closeBrace) fail(at)
  }
  if (skipBlanks(bytes, at + 1) !== bytes.length) fail(at + 1)
}

/** The parts of a request that decide where it goes. */
export type RequestFields = {
  model: string | undefined
  stream: boolean
  /** Position of the model's name; absent when there is none. */
  modelSpan?: TextSpan
  /** Position of `stream_options`; absent when there is none. */
  streamOptionsSpan?: TextSpan
}

/**
 * Finds `model` and `stream`. Builds no other value, and neither of these when it is an object or a list, so passing a
 * body through costs one look at each byte, however many values it has. Throws InvalidRequest when the body is not a
 * JSON object or `model` is not a string.
 */
export function readRequestFields(bytes: Buffer): RequestFields {
  const fields: RequestFields = { model: undefined, stream: false }
  visitFields(bytes, (name, span) => {
    if (name === 'stream') fields.stream = bytes.toString('latin1', span.start, span.end) === 'true'
    else if (name === 'stream_options') fields.streamOptionsSpan = span
    else if (name === 'model') readModel(fields, isNested(bytes, span) ? undefined : parseSpan(bytes, span), span)
  })
  return fields
}

function readModel(fields: RequestFields, model: unknown, span: TextSpan): void {
  // Two programs could each use a different one.
  if (fields.modelSpan !== undefined) throw new SvcError('InvalidRequest', 'model: occurs twice; send it once')
  if (typeof model !== 'string' && model !== null) throw new SvcError('InvalidRequest', 'model: must be a string')
  if (model !== null && model.length > maxModelLength)
    throw new SvcError('InvalidRequest', `model: must have at most ${maxModelLength} characters`)
  fields.model = model ?? undefined
  fields.modelSpan = span
}

/** The request with another model name, everything else as it is. */
export function replaceModel(bytes: Buffer, { model, modelSpan }: RequestFields, name: string): Buffer {
  if (name === model) return bytes
  const text = JSON.stringify(name)
  return modelSpan === undefined ? insertField(bytes, `"model":${text}`) : replaceSpan(bytes, modelSpan, text)
}

function replaceSpan(bytes: Buffer, { start, end }: TextSpan, text: string): Buffer {
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)])
}

function insertField(bytes: Buffer, field: string): Buffer {
  const open = skipBlanks(bytes, 0) + 1
  const isEmpty = bytes[skipBlanks(bytes, open)] === closeBrace
  return Buffer.concat([bytes.subarray(0, open), Buffer.from(`${field}${isEmpty ? '' : ','}`), bytes.subarray(open)])
}

/**
 * A streamed llmo request that also asks for the counts; undefined when it already does, or when its options cannot be
 * extended: the vendor judges those.
 */
export function addUsageWish(bytes: Buffer, { streamOptionsSpan: span }: RequestFields): Buffer | undefined {
  if (span !== undefined && span.end - span.start > maxOptionsLength) return undefined
  const options = span === undefined ? {} : (parseSpan(bytes, span) ?? {})
  if (typeof options !== 'object' || Array.isArray(options)) return undefined
  if ((options as { include_usage?: unknown }).include_usage === true) return undefined
  const text = JSON.stringify({ ...options, include_usage: true })
  return span === undefined ? insertField(bytes, `"stream_options":${text}`) : replaceSpan(bytes, span, text)
}
