import type { JsonObject } from '../contract/json.ts'
// Counts as vendors give them. What is none must not get into sums: they are kept as whole numbers, and written together.

/** No call has as many; a thousand times a million of these can still be added. */
export const mostTokens = 1e12

export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostTokens ? value : undefined
}

/** A field of an object that may not be there. */
export function readNestedCount(value: unknown, field: string): number | undefined {
  return typeof value === 'object' && value !== null ? readCount((value as JsonObject)[field]) : undefined
}
