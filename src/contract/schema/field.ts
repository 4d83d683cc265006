// How a field says what it is. CRDs, OpenAPI, `svc explain` and the reference print what stands here.
import type { z } from 'zod'

/**
 * Describes a field: what it means, with its unit and what holds when it is absent. Type, default and permitted values
 * are printed from the schema. The example is for fields whose permitted values do not show one.
 */
export function field<S extends z.ZodType>(schema: S, description: string, example?: unknown): S {
  return schema.meta(example === undefined ? { description } : { description, example })
}

/**
 * Marks a schema with keywords of JSON Schema for rules that are refinements here, which cannot be printed. OpenAPI adds
 * them; CRDs have CEL rules in their place.
 */
export const publishedMark = 'x-svc-published'

/** JSON Schema: at most one of the two fields. */
export function notBoth(first: string, second: string): object {
  return { not: { required: [first, second] } }
}

/**
 * JSON Schema: at least one of the rules holds. Generators of clients make a type of each schema in an `anyOf`, and lose
 * those that have no type of their own; they leave out what is forbidden.
 */
export function oneHolds(...rules: object[]): object {
  return { not: { allOf: rules.map((rule) => ({ not: rule })) } }
}

/** JSON Schema: exactly one of the two fields, of an object that has no others. */
export function exactlyOne(first: string, second: string): object {
  return { ...notBoth(first, second), minProperties: 1 }
}

/** A value as a reader would type it: text as it is, anything else as JSON. */
export function printValue(value: unknown): string {
  return typeof value === 'string' ? value || '""' : JSON.stringify(value)
}

/** Default and example as sentences; an example that is the default says nothing new. */
export function printHints({ default: fallback, example }: { default?: unknown; example?: unknown }): string[] {
  const [shownDefault, shownExample] = [fallback, example].map((value) =>
    value === undefined ? undefined : printValue(value),
  )
  const hints: string[] = []
  if (shownDefault !== undefined) hints.push(`Default: ${shownDefault}.`)
  if (shownExample !== undefined && shownExample !== shownDefault) hints.push(`Example: ${shownExample}`)
  return hints
}
