// Parses a JSON body defensively: UTF-8, bounded depth before anything is built, no prototype keys, faults with their
// position.
import { maxJsonValues } from '../../contract/schema/validation.ts'
import { SvcError } from '../../errors.ts'

/** Deeper nesting is refused; no body of the contract needs a quarter of this. */
export const maxJsonDepth = 64

/** The limit for workers, whose checkpoints contain a whole conversation. */
export const maxWorkerJsonValues = 500_000

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function skipString(bytes: Uint8Array, start: number): number {
  let index = start + 1
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1
  return index
}

type Measure = { depth: number; values: number }

function nestBy(byte: number | undefined): number {
  if (byte === 0x7b || byte === 0x5b) return 1
  return byte === 0x7d || byte === 0x5d ? -1 : 0
}

/**
 * Nesting depth and number of values of a JSON text, counted in its bytes alone; stops counting beyond either limit.
 */
function measureJson(bytes: Uint8Array, limit: Measure): Measure {
  let depth = 0
  let deepest = 0
  let values = 1
  for (let index = 0; index < bytes.length && deepest <= limit.depth && values <= limit.values; index++) {
    const byte = bytes[index]
    if (byte === quote) index = skipString(bytes, index)
    else if (byte === comma) values++
    depth += nestBy(byte)
    if (depth > deepest) deepest = depth
  }
  return { depth: deepest, values }
}

function checkMeasure(bytes: Uint8Array, maxValues: number): void {
  const { depth, values } = measureJson(bytes, { depth: maxJsonDepth, values: maxValues })
  if (depth > maxJsonDepth) {
    throw new SvcError('InvalidRequest', `the body is nested more than ${maxJsonDepth} levels deep; flatten it`)
  }
  if (values > maxValues) {
    throw new SvcError('TooLarge', `the body has more than ${maxValues} values; send less at once`)
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new SvcError('InvalidRequest', 'the body is not valid UTF-8; send JSON text in UTF-8')
  }
}

function hasPrototypeKey(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return false
  if (Object.hasOwn(value, '__proto__')) return true
  return Object.values(value).some(hasPrototypeKey)
}

// `__proto__` may be spelled with \u escapes; only bodies that could contain it are searched.
const prototypeHint = /__proto__|\\u00/i

function rejectPrototypeKeys(text: string, value: unknown): void {
  if (prototypeHint.test(text) && hasPrototypeKey(value)) {
    throw new SvcError('InvalidRequest', 'the body has a key "__proto__"; remove it')
  }
}

function locate(text: string, cause: unknown): SvcError {
  const offset = locateJsonFault(text)
  const what = offset >= text.length ? 'it ends too early' : 'unexpected character'
  const position = describePosition(text, offset)
  return new SvcError('InvalidRequest', `the body is not valid JSON: ${what} at ${position}`, { cause })
}

/** A JSON body as text and as value; both undefined when it is empty. InvalidRequest with the position of the fault. */
export function readJsonBody(
  bytes: Uint8Array,
  maxValues: number = maxJsonValues,
): { text: string; value: unknown } | Record<'text' | 'value', undefined> {
  if (bytes.length === 0) return { text: undefined, value: undefined }
  checkMeasure(bytes, maxValues)
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw locate(text, cause)
  }
  rejectPrototypeKeys(text, value)
  return { text, value }
}

const blank = /[ \t\n\r]*/y
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 section 7 forbids them inside strings
  /[{}[\],:]|"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

type Expectation = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' | 'nothing'

type State = { expects: Expectation; closers: string[] }

function afterValue(state: State): boolean {
  state.expects = state.closers.length === 0 ? 'nothing' : 'commaOrEnd'
  return true
}

function openContainer(state: State, text: string): boolean {
  state.closers.push(text === '{' ? '}' : ']')
  state.expects = text === '{' ? 'keyOrEnd' : 'valueOrEnd'
  return true
}

function closeContainer(state: State, text: string): boolean {
  if (state.closers.pop() !== text) return false
  return afterValue(state)
}

function takeValue(state: State, text: string): boolean {
  if (text === '{' || text === '[') return openContainer(state, text)
  if (text === ']' && state.expects === 'valueOrEnd') return closeContainer(state, text)
  if (/^[}\],:]$/.test(text)) return false
  return afterValue(state)
}

function takeKey(state: State, text: string): boolean {
  if (text === '}' && state.expects === 'keyOrEnd') return closeContainer(state, text)
  if (!text.startsWith('"')) return false
  state.expects = 'colon'
  return true
}

function takeSeparator(state: State, text: string): boolean {
  if (text !== ',') return closeContainer(state, text)
  state.expects = state.closers.at(-1) === '}' ? 'key' : 'value'
  return true
}

function accept(state: State, text: string): boolean {
  switch (state.expects) {
    case 'value':
    case 'valueOrEnd':
      return takeValue(state, text)
    case 'key':
    case 'keyOrEnd':
      return takeKey(state, text)
    case 'colon':
      state.expects = 'value'
      return text === ':'
    case 'commaOrEnd':
      return takeSeparator(state, text)
    case 'nothing':
      return false
  }
}

/** Offset of the first character that is not allowed there; the length of the text when it ends too early. */
export function locateJsonFault(text: string): number {
  const state: State = { expects: 'value', closers: [] }
  let offset = 0
  for (;;) {
    blank.lastIndex = offset
    offset += blank.exec(text)?.[0].length ?? 0
    if (offset >= text.length) return text.length
    token.lastIndex = offset
    const found = token.exec(text)?.[0]
    if (found === undefined || !accept(state, found)) return offset
    offset += found.length
  }
}

/** `line 3, column 14`, both from 1. */
export function describePosition(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const line = before.split('\n').length
  return `line ${line}, column ${offset - before.lastIndexOf('\n')}`
}
