// Reads a JSON body defensively: UTF-8, bounded depth before anything is built, no prototype keys, faults with their place.
import { SvcError } from '../../errors.ts'
import { describePosition, locateJsonFault } from './json-fault.ts'

/** Deeper nesting than this is refused; no body of the contract needs a quarter of it. */
export const maxJsonDepth = 64

const quote = 0x22
const backslash = 0x5c
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

function skipString(bytes: Uint8Array, start: number): number {
  let index = start + 1
  while (index < bytes.length && bytes[index] !== quote) index += bytes[index] === backslash ? 2 : 1
  return index
}

/** Deepest nesting of a JSON text, told from its bytes alone; stops counting beyond `limit`. */
function measureDepth(bytes: Uint8Array, limit: number): number {
  let depth = 0
  let deepest = 0
  for (let index = 0; index < bytes.length && deepest <= limit; index++) {
    const byte = bytes[index]
    if (byte === quote) index = skipString(bytes, index)
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return deepest
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

// `__proto__` may be spelled with \u escapes; only bodies that could hold it are walked.
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

/** A JSON body as text and as value; both are undefined when it is empty. InvalidRequest with the place of the fault. */
export function readJsonBody(
  bytes: Uint8Array,
): { text: string; value: unknown } | Record<'text' | 'value', undefined> {
  if (bytes.length === 0) return { text: undefined, value: undefined }
  if (measureDepth(bytes, maxJsonDepth) > maxJsonDepth) {
    throw new SvcError('InvalidRequest', `the body is nested more than ${maxJsonDepth} levels deep; flatten it`)
  }
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
