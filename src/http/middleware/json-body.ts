// Parses a JSON body defensively: UTF-8, bounded depth before anything is built, no prototype keys, faults with their
// position.
import { mostJsonValues } from '../../contract/schema/validation.ts'
import { SvcError } from '../../errors.ts'
import { describePosition, locateJsonFault } from './json-fault.ts'

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
  const place = describePosition(text, offset)
  return new SvcError('InvalidRequest', `the body is not valid JSON: ${what} at ${place}`, { cause })
}

/** A JSON body as text and as value; both undefined when it is empty. InvalidRequest with the position of the fault. */
export function readJsonBody(
  bytes: Uint8Array,
  maxValues: number = mostJsonValues,
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
