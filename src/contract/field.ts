// How a field says what it is. CRDs, OpenAPI, `svc explain` and the reference print what stands here.
import type { z } from 'zod'

/**
 * Describes a field: what it means, with its unit and what holds when it is absent. Type, default and permitted values
 * are printed from the schema. The example is for fields whose permitted values do not show one.
 */
export function field<S extends z.ZodType>(schema: S, description: string, example?: unknown): S {
  return schema.meta(example === undefined ? { description } : { description, example })
}
