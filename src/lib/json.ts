// JSON values before they are validated.

/** A JSON object with unknown fields. */
export type JsonObject = Record<string, unknown>

/** True for objects; false for null and lists. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** For `JSON.stringify`: the same text whatever order the keys of objects are in, which stores may change. */
export function sortKeys(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** A copy without the fields that are undefined. */
export function dropUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** Undefined for text that is not JSON. Use `parseForeignJson` for large texts from untrusted code or vendors. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
