// JSON from outside. Excessive nesting would exhaust the stack when it is written again.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

export const deepestJson = 500

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])

/** The position after the text that opens at `start`. */
function skipText(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

export function isTooDeep(text: string): boolean {
  // Each level takes at least two characters.
  if (text.length <= 2 * deepestJson) return false
  let depth = 0
  for (let at = 0; at < text.length && depth <= deepestJson; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = skipText(text, at)
    else if (opening.has(code)) depth += 1
    else if (closing.has(code)) depth -= 1
  }
  return depth > deepestJson
}

/** Whether it contains more values than the limit, judged by its commas. */
export function hasMoreValues(text: string, max: number): boolean {
  let values = 1
  for (let at = 0; at < text.length && values <= max; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = skipText(text, at)
    else if (code === comma) values += 1
  }
  return values > max
}

/** Undefined when it is not JSON, or nested too deeply. */
export function parseForeignJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The same for what must be an object. */
export function parseForeignObject(text: string): JsonObject | undefined {
  const value = parseForeignJson(text)
  return isJsonObject(value) ? value : undefined
}
