// JSON as it is before anybody has judged it.

/** A JSON object of which nothing is known but that it is one. */
export type JsonObject = Record<string, unknown>

/** Neither null nor a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Without the fields that are undefined. */
export function dropUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** Undefined for text that is not JSON. For what untrusted code or a vendor sent in bulk, see `parseForeignJson`. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
