// Bodies and paths that the OpenAPI document permits, with one text in them to be chosen.
import type { JsonObject } from '../../src/lib/json.ts'

type Schema = JsonObject & {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  enum?: unknown[]
  examples?: unknown[]
}
type Parameter = { name: string; in: string; required?: boolean; schema?: Schema }
type Operation = { parameters?: Parameter[]; requestBody?: { content: Record<string, { schema: Schema }> } }
export type OpenApi = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** A request with a place for a text. */
export type Place = { name: string; method: string; make(text: string): { url: string; body?: unknown } }

const maxDepth = 8
const maxUrlText = 2000

function resolve(document: OpenApi, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema
    return resolve(document, { ...document.components.schemas[$ref.split('/').at(-1) ?? ''], ...own })
  }
  const parts = schema.allOf?.map((part) => resolve(document, part)) ?? []
  return Object.assign({}, ...parts, schema)
}

function alternativesOf(schema: Schema): Schema[] {
  return schema.anyOf ?? schema.oneOf ?? []
}

function typeOf(schema: Schema): string {
  if (schema.properties !== undefined) return 'object'
  return String(Array.isArray(schema.type) ? schema.type[0] : (schema.type ?? ''))
}

function sampleObject(document: OpenApi, { required = [], properties }: Schema, depth: number): object {
  const keys = depth > maxDepth ? [] : required
  return Object.fromEntries(keys.map((key) => [key, sample(document, properties?.[key] ?? {}, depth + 1)]))
}

function sampleList(document: OpenApi, { items, minItems = 0 }: Schema, depth: number): unknown[] {
  return items !== undefined && Number(minItems) > 0 ? [sample(document, items, depth + 1)] : []
}

const samples: Record<string, (document: OpenApi, schema: Schema, depth: number) => unknown> = {
  object: sampleObject,
  array: sampleList,
  integer: (_, { minimum = 1 }) => minimum,
  number: (_, { minimum = 1 }) => minimum,
  boolean: () => false,
}

function knownValue(schema: Schema): unknown {
  const known = [schema.const, schema.examples?.[0], schema.example, schema.default, schema.enum?.[0]]
  return known.find((value) => value !== undefined)
}

/** The smallest value that is permitted, as far as the schema says. */
function sample(document: OpenApi, given: Schema, depth = 0): unknown {
  const schema = resolve(document, given)
  const known = knownValue(schema)
  if (known !== undefined) return known
  const [first] = alternativesOf(schema)
  if (first !== undefined) return sample(document, first, depth + 1)
  return samples[typeOf(schema)]?.(document, schema, depth) ?? 'x'
}

type Fill = { path: string; fill(text: string): unknown }
type Part = { schema: Schema; path: string; wrap(value: unknown): unknown }

/** What is inside of a value, with the smallest value around it. */
function listParts(document: OpenApi, schema: Schema, { path, depth }: { path: string; depth: number }): Part[] {
  const { items, properties = {}, additionalProperties } = schema
  const base = () => sample(document, schema, depth) as object
  const alternatives = alternativesOf(schema).map((one) => ({ schema: one, path, wrap: (value: unknown) => value }))
  const list = items && { schema: items, path: `${path}[]`, wrap: (value: unknown) => [value] }
  const fields = Object.entries(properties).map(([key, inner]) => ({
    schema: inner,
    path: `${path}.${key}`,
    wrap: (value: unknown) => ({ ...base(), [key]: value }),
  }))
  const entries = typeof additionalProperties === 'object' && {
    schema: additionalProperties,
    path: `${path}.*`,
    wrap: (value: unknown) => ({ ...base(), key: value }),
  }
  return [...alternatives, ...fields, ...(list ? [list] : []), ...(entries ? [entries] : [])]
}

/** Every text in a value of the schema, each with the smallest value around it. */
function listTexts(document: OpenApi, given: Schema, { path = '', depth = 0 } = {}): Fill[] {
  if (depth > maxDepth) return []
  const schema = resolve(document, given)
  const own: Fill[] = typeOf(schema) === 'string' ? [{ path, fill: (text) => text }] : []
  if (typeof schema.additionalProperties === 'object')
    own.push({ path: `${path}.KEY`, fill: (text) => ({ [text]: 'x' }) })
  const inner = listParts(document, schema, { path, depth }).flatMap(({ schema: part, path: at, wrap }) =>
    listTexts(document, part, { path: at, depth: depth + 1 }).map((one) => ({
      path: one.path,
      fill: (text: string) => wrap(one.fill(text)),
    })),
  )
  return [...own, ...inner]
}

function makeUrl(path: string, filled: Record<string, string> = {}): string {
  return path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(filled[name] ?? 'x'))
}

function* listPlacesOf(
  document: OpenApi,
  { path, method, operation }: { path: string; method: string; operation: Operation },
) {
  const name = `${method.toUpperCase()} ${path}`
  for (const parameter of operation.parameters ?? []) {
    const cut = (text: string) => text.slice(0, maxUrlText)
    const inPath = (text: string) => ({ url: makeUrl(path, { [parameter.name]: cut(text) }) })
    const inQuery = (text: string) => ({
      url: `${makeUrl(path)}?${new URLSearchParams({ [parameter.name]: cut(text) })}`,
    })
    if (parameter.in === 'path') yield { name: `${name} ${parameter.name}`, method, make: inPath }
    if (parameter.in === 'query') yield { name: `${name} ?${parameter.name}`, method, make: inQuery }
  }
  const schema = operation.requestBody?.content['application/json']?.schema
  if (schema === undefined) return
  for (const { path: at, fill } of listTexts(document, schema)) {
    yield { name: `${name} ${at}`, method, make: (text: string) => ({ url: makeUrl(path), body: fill(text) }) }
  }
}

/** Every place for a text in the requests of the document, once. */
export function listPlaces(document: OpenApi): Place[] {
  const places = new Map<string, Place>()
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      for (const place of listPlacesOf(document, { path, method, operation })) places.set(place.name, place)
    }
  }
  return [...places.values()]
}
