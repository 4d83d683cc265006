// The one rule of the vendors' own structured output: it is asked for where it can hold the whole schema, and not again
// once a server has refused it. That the answer matches is checked in any case.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { Family, ModelEvent, ModelRequest } from '../messages/messages.ts'
import type { Listener, ModelClient } from './model-client.ts'

/** The field of each family that asks for an answer of this shape. */
export const nativeOutput: Record<Family, (schema: unknown) => JsonObject> = {
  llma: (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  llmo: (schema) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema } },
  }),
}

/** What both vendors hold an answer to (vendor documents: Structured outputs); they refuse other keywords. */
const supportedKeywords = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'anyOf',
  '$ref',
  '$defs',
]
const ignoredKeywords = ['$schema', 'title', 'description']

/** Whether a vendor can hold an answer to the whole schema: its objects name all their properties, and require them. */
export function isStrict(schema: unknown): boolean {
  return isJsonObject(schema) && schema.type === 'object' && isSupported(schema)
}

function isSupported(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false
  const { properties = {}, required = [], additionalProperties, items, anyOf = [], $defs = {} } = schema
  const isClosed =
    schema.type !== 'object' ||
    (additionalProperties === false &&
      Object.keys(properties as object).every((name) => (required as unknown[]).includes(name)))
  return (
    isClosed &&
    Object.keys(schema).every((keyword) => supportedKeywords.includes(keyword) || ignoredKeywords.includes(keyword)) &&
    [...Object.values(properties as object), ...Object.values($defs as object), ...(anyOf as unknown[])].every(
      isSupported,
    ) &&
    (items === undefined || isSupported(items))
  )
}

/** A client that leaves the schema out where the vendor cannot hold it or has refused it before. */
export function withStructuredOutput(client: ModelClient): ModelClient {
  let isRefused = false

  /** True when the vendor refused the request, which the caller does not see. */
  async function isTurnedDown(request: ModelRequest, { take, ...listener }: Listener): Promise<boolean> {
    let hasBegun = false
    let wasRefused = false
    const takeUnlessRefused = (events: ModelEvent[]) => {
      const [first] = events
      wasRefused ||= !hasBegun && first?.type === 'error' && first.error.reason === 'RequestRefused'
      hasBegun = true
      return wasRefused ? undefined : take(events)
    }
    await client.call(request, { ...listener, take: takeUnlessRefused })
    return wasRefused
  }

  return {
    async call(request, listener) {
      const { outputSchema, ...plain } = request
      if (outputSchema === undefined) return client.call(request, listener)
      if (!isRefused && isStrict(outputSchema)) {
        isRefused = await isTurnedDown(request, listener)
        if (!isRefused) return
      }
      await client.call(plain, listener)
    },
  }
}
