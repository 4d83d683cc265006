// The fields of a kind as a tree, for `svc explain` and the reference, derived from the schemas that validate.
import { z } from 'zod'
import { isJsonObject } from '../../lib/json.ts'
import { type Kind, kinds } from '../kinds/index.ts'
import { apiVersion, ObjectMeta } from '../kinds/resources/metadata.ts'

/** A field with everything a reader needs to fill it in. */
export type FieldDoc = {
  name: string
  /** The type as `kubectl explain` writes it: `string`, `[]object`, `map[string]string`. */
  type: string
  required: boolean
  description: string
  default?: unknown
  example?: unknown
  /** The permitted words; absent when other values are possible. */
  values?: readonly unknown[]
  /** The range, such as `0 to 1000`; absent without limits. */
  range?: string
  fields: readonly FieldDoc[]
}

/** A kind with its fields. */
export type KindDoc = { kind: string; apiVersion: string; description: string; fields: readonly FieldDoc[] }

type Json = { readonly [key: string]: unknown }

const open = Number.MAX_SAFE_INTEGER

/** Resolves a reference, keeping the keywords beside it. */
function resolve(schema: Json, definitions: Json): Json {
  const { $ref, ...beside } = schema
  if (typeof $ref !== 'string') return schema
  return { ...(definitions[$ref.replace('#/$defs/', '')] as Json), ...beside }
}

function typeOf(schema: Json, definitions: Json): string {
  const { anyOf, items, additionalProperties, type } = schema
  if (Array.isArray(anyOf)) {
    return [...new Set(anyOf.map((option) => typeOf(resolve(option as Json, definitions), definitions)))].join(' or ')
  }
  if (type === 'array') return `[]${isJsonObject(items) ? typeOf(resolve(items, definitions), definitions) : 'any'}`
  const isMap = type === 'object' && schema.properties === undefined
  if (isMap && isJsonObject(additionalProperties)) {
    return `map[string]${typeOf(resolve(additionalProperties, definitions), definitions)}`
  }
  return typeof type === 'string' ? type : 'any'
}

function rangeOf({ minimum, maximum }: Json): string | undefined {
  const lowest = typeof minimum === 'number' && minimum > -open ? minimum : undefined
  const highest = typeof maximum === 'number' && maximum < open ? maximum : undefined
  if (lowest !== undefined && highest !== undefined) return `${lowest} to ${highest}`
  if (lowest !== undefined) return `at least ${lowest}`
  return highest === undefined ? undefined : `at most ${highest}`
}

/** The schema with the fields: the schema itself, or that of its list or map entries. */
function findObject(schema: Json, definitions: Json): Json | undefined {
  const resolved = resolve(schema, definitions)
  if (isJsonObject(resolved.properties)) return resolved
  const inner = resolved.items ?? resolved.additionalProperties
  return isJsonObject(inner) ? findObject(inner, definitions) : undefined
}

function listFields(schema: Json, definitions: Json): FieldDoc[] {
  const object = findObject(schema, definitions)
  const required = (object?.required ?? []) as string[]
  return Object.entries((object?.properties ?? {}) as Record<string, Json>).map(([name, child]) =>
    readField(name, resolve(child, definitions), { definitions, required: required.includes(name) }),
  )
}

function readField(
  name: string,
  schema: Json,
  { definitions, required }: { definitions: Json; required: boolean },
): FieldDoc {
  const values = schema.enum ?? (schema.items as Json | undefined)?.enum
  const range = rangeOf(schema)
  return {
    name,
    type: typeOf(schema, definitions),
    required,
    description: String(schema.description ?? ''),
    default: schema.default,
    example: schema.example,
    ...(Array.isArray(values) ? { values } : {}),
    range,
    fields: listFields(schema, definitions),
  }
}

function readSchema(name: string, schema: z.ZodType, required: boolean): FieldDoc {
  const { $defs, ...json } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json
  const definitions = ($defs ?? {}) as Json
  return readField(name, resolve(json, definitions), { definitions, required })
}

/** A kind with its metadata, spec and status. */
export function describeKind(kind: Kind): KindDoc {
  const { description, spec, status } = kinds[kind]
  const fields = [
    { ...readSchema('metadata', ObjectMeta, true), description: 'Name, labels and what the service keeps.' },
    { ...readSchema('spec', spec, true), description: 'What is wanted.' },
    { ...readSchema('status', status, false), description: 'What is; written by the service.' },
  ]
  return { kind, apiVersion, description, fields }
}

/** The fields of any object. */
export function describeFields(schema: z.ZodType): readonly FieldDoc[] {
  return readSchema('', schema, true).fields
}
