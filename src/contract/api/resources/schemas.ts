// The schema of one kind alone, for forms and editors.
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { type Kind, kindNames } from '../../kinds/index.ts'
import { field } from '../../schema/field.ts'
import { ReadHeaders, routesOf } from './route.ts'

export const getSchema = routesOf({ tag: 'Schemas' }).get('/api/v1/schemas/:kind', {
  summary: 'JSON Schema of a kind',
  description:
    'Answers the JSON Schema (2020-12) of the objects of a kind as they are written, with descriptions, defaults and examples. It is the same until the service is updated: keep it with its ETag.',
  params: z.object({ kind: field(z.enum(kindNames as [Kind, ...Kind[]]), 'Name of the kind.', 'Agent') }),
  headers: ReadHeaders,
  responses: { 200: { description: 'The schema', schema: z.record(z.string(), z.unknown()) } },
})

const component = '#/components/schemas/'
const own = '#/$defs/'

function listNames(schema: unknown): string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name)
}

function collect(schemas: JsonObject, name: string, found: JsonObject): JsonObject {
  if (name in found) return found
  found[name] = schemas[name]
  for (const other of listNames(schemas[name])) collect(schemas, other, found)
  return found
}

/** The schema of a kind by itself, taken out of an OpenAPI document: as it is written, where that differs from what is read. */
export function schemaOfKind(document: object, kind: Kind): JsonObject {
  const { components } = document as { components: { schemas: JsonObject } }
  const { schemas } = components
  const name = isJsonObject(schemas[`${kind}Input`]) ? `${kind}Input` : kind
  const found = collect(schemas, name, {})
  const text = JSON.stringify({ $ref: `${component}${name}`, $defs: found }).replaceAll(component, own)
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...JSON.parse(text) }
}
