// The OpenAPI 3.1 document, printed from the route table and the schemas that validate (HTTP-046).
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { referenceMark } from '../../kinds/resources/references.ts'
import { publishedMark } from '../../schema/field.ts'
import { documentedShape, errorDescriptions, type Route, type RouteResponse } from '../resources/route.ts'

type Direction = 'input' | 'output'
type Definitions = Record<string, JsonObject>

/** A converted schema, with references to `#/$defs/Name`, and the definitions that they refer to. */
type Converted = { json: JsonObject; definitions: Definitions }

const internalKeywords = ['x-kubernetes-validations', 'x-svc-aliases', referenceMark, publishedMark, 'id']

function convert(schema: z.ZodType, direction: Direction): Converted {
  const found: Definitions = {}
  const {
    $defs = {},
    $schema: _,
    ...json
  } = z.toJSONSchema(schema, {
    target: 'draft-2020-12',
    io: direction,
    unrepresentable: 'any',
    override: (context) => {
      const read = context.zodSchema as unknown as z.ZodType
      const shape = documentedShape(read)
      if (shape !== read) {
        const inner = convert(shape, direction)
        Object.assign(found, inner.definitions)
        for (const key of Object.keys(context.jsonSchema)) delete context.jsonSchema[key]
        Object.assign(context.jsonSchema, inner.json, read.meta())
      }
      Object.assign(context.jsonSchema, context.jsonSchema[publishedMark])
      for (const key of internalKeywords) delete context.jsonSchema[key]
    },
  })
  return { json, definitions: { ...found, ...($defs as Definitions) } }
}

/** The JSON with every `$ref` renamed, and with examples and number limits in the form of OpenAPI. */
function rewrite(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((entry) => rewrite(entry, rename))
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, entry]): [string, unknown] => {
    if (key === '$ref' && typeof entry === 'string') {
      return [key, `#/components/schemas/${rename(entry.replace('#/$defs/', ''))}`]
    }
    if (key === 'example' && value.properties === undefined) return ['examples', [entry]]
    return [key, rewrite(entry, rename)]
  })
  return Object.fromEntries(entries.filter(([key, entry]) => !isSafeIntegerBound(key, entry)))
}

function isSafeIntegerBound(key: string, value: unknown): boolean {
  return (key === 'maximum' || key === 'minimum') && Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER
}

function listReferences(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(/"#\/\$defs\/([^"]+)"/g)].map((match) => match[1] ?? '')
}

function addDefinitions(all: Definitions, more: Definitions): void {
  for (const [name, json] of Object.entries(more)) {
    const known = all[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(json)) {
      throw new Error(`two different schemas have the id ${name}`)
    }
    all[name] = json
  }
}

/** Names of input definitions that differ from the output definition of the same name, directly or in what they refer to. */
function findDifferent(inputs: Definitions, outputs: Definitions): Set<string> {
  const different = new Set(
    Object.keys(inputs).filter(
      (name) => name in outputs && JSON.stringify(inputs[name]) !== JSON.stringify(outputs[name]),
    ),
  )
  for (let size = -1; size !== different.size; ) {
    size = different.size
    for (const [name, json] of Object.entries(inputs)) {
      if (name in outputs && listReferences(json).some((reference) => different.has(reference))) different.add(name)
    }
  }
  return different
}

/** Collects all schemas, so that their names are known before the first is written. */
function createSchemaBook() {
  const definitions: Record<Direction, Definitions> = { input: {}, output: {} }
  let different: Set<string> | undefined
  const converted: Record<Direction, Map<z.ZodType, Converted>> = { input: new Map(), output: new Map() }
  /** Once for each schema: routes share many, and each is looked at for its definitions before it is printed. */
  const convertOnce = (schema: z.ZodType, direction: Direction): Converted => {
    const known = converted[direction].get(schema) ?? convert(schema, direction)
    converted[direction].set(schema, known)
    return known
  }
  const rename = (direction: Direction) => (name: string) =>
    direction === 'input' && different?.has(name) ? `${name}Input` : name
  return {
    add(schema: z.ZodType, direction: Direction): void {
      addDefinitions(definitions[direction], convertOnce(schema, direction).definitions)
    },
    settle(): void {
      different = findDifferent(definitions.input, definitions.output)
    },
    print(schema: z.ZodType, direction: Direction): JsonObject {
      return rewrite(convertOnce(schema, direction).json, rename(direction)) as JsonObject
    },
    components(): JsonObject {
      const schemas: JsonObject = {}
      for (const direction of ['output', 'input'] as const) {
        const name = rename(direction)
        for (const [id, json] of Object.entries(definitions[direction])) schemas[name(id)] ??= rewrite(json, name)
      }
      return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}

type SchemaBook = ReturnType<typeof createSchemaBook>

function listSchemas(route: Route): [z.ZodType, Direction][] {
  const inputs = [route.params, route.query, route.headers, route.body].filter((schema) => schema !== undefined)
  const outputs = Object.values(route.responses).flatMap((response) => (response.schema ? [response.schema] : []))
  return [
    ...inputs.map((schema): [z.ZodType, Direction] => [schema, 'input']),
    ...outputs.map((schema): [z.ZodType, Direction] => [schema, 'output']),
  ]
}

function printParameters(
  book: SchemaBook,
  location: 'path' | 'query' | 'header',
  schema: z.ZodObject | undefined,
): JsonObject[] {
  if (schema === undefined) return []
  const { properties = {}, required = [] } = book.print(schema, 'input') as {
    properties?: JsonObject
    required?: string[]
  }
  return Object.entries(properties as Record<string, JsonObject>).map(([name, { description, ...json }]) => ({
    name,
    in: location,
    description,
    required: location === 'path' || required.includes(name),
    schema: json,
  }))
}

function printBody(book: SchemaBook, route: Route): JsonObject {
  if (route.rawBody !== undefined) {
    return { requestBody: { required: true, content: { [route.rawBody]: { schema: {} } } } }
  }
  if (route.body === undefined) return {}
  const content = { 'application/json': { schema: book.print(route.body, 'input') } }
  return { requestBody: { required: route.bodyOptional !== true, content } }
}

const responseHeaders: Record<string, JsonObject> = {
  304: { ETag: { schema: { type: 'string' } } },
  401: { 'WWW-Authenticate': { schema: { type: 'string' } } },
  429: { 'Retry-After': { schema: { type: 'integer' } } },
  503: { 'Retry-After': { schema: { type: 'integer' } } },
}

/** Of bytes, and of streams of events, the media type says all. */
const unschematic = ['application/octet-stream', 'text/event-stream']

function printContent(book: SchemaBook, route: Route, response: RouteResponse): JsonObject {
  const content: JsonObject = {}
  if (response.schema !== undefined) content['application/json'] = { schema: book.print(response.schema, 'output') }
  const { contentType } = response
  if (contentType !== undefined)
    content[contentType] = { schema: unschematic.includes(contentType) ? {} : { type: 'string' } }
  const isStream = route.stream === 'sse' && response.schema !== undefined && response === route.responses[200]
  if (isStream) content['text/event-stream'] = { schema: {} }
  return Object.keys(content).length === 0 ? {} : { content }
}

/** Answers that are the same for every route are printed once. */
function isShared(status: string, response: RouteResponse): boolean {
  return response.description === errorDescriptions[Number(status)]
}

function printResponse(book: SchemaBook, route: Route, status: string): JsonObject {
  const response = route.responses[Number(status)] ?? { description: '' }
  const headers = responseHeaders[status]
  const body = printContent(book, route, response)
  return { description: response.description, headers, ...body }
}

function printResponses(book: SchemaBook, route: Route): JsonObject {
  const entries = Object.entries(route.responses).map(([status, response]) => [
    status,
    isShared(status, response) ? { $ref: `#/components/responses/Error${status}` } : printResponse(book, route, status),
  ])
  return Object.fromEntries(entries)
}

function printSharedResponses(book: SchemaBook, routes: readonly Route[]): JsonObject {
  const shared: JsonObject = {}
  for (const route of routes) {
    for (const [status, response] of Object.entries(route.responses)) {
      if (isShared(status, response)) shared[`Error${status}`] ??= printResponse(book, route, status)
    }
  }
  return Object.fromEntries(Object.entries(shared).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const security = {
  user: [{ bearer: [] }, { apiKey: [] }],
  worker: [{ worker: [] }],
  runner: [{ runner: [] }],
  none: [],
}

function printOperation(book: SchemaBook, operationId: string, route: Route): JsonObject {
  const parameters = [
    ...printParameters(book, 'path', route.params),
    ...printParameters(book, 'query', route.query),
    ...printParameters(book, 'header', route.headers),
  ]
  return {
    operationId,
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...printBody(book, route),
    responses: printResponses(book, route),
    security: security[route.auth],
  }
}

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'Token of a user' },
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same token' },
  worker: { type: 'http', scheme: 'bearer', description: 'Token of one task attempt (audience svc-internal)' },
}

/** The document for a table of routes; keys of the table are the operation ids. */
export function buildOpenApi(routes: Readonly<Record<string, Route>>, info: { version: string }): JsonObject {
  const book = createSchemaBook()
  for (const route of Object.values(routes)) {
    for (const [schema, direction] of listSchemas(route)) book.add(schema, direction)
  }
  book.settle()
  const paths: Record<string, JsonObject> = {}
  for (const [name, route] of Object.entries(routes)) {
    const path = route.path.replace(/:([A-Za-z]+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: printOperation(book, name, route) }
  }
  const tags = [...new Set(Object.values(routes).map((route) => route.tag))].map((name) => ({ name }))
  return {
    openapi: '3.1.0',
    info: {
      title: 'svc',
      version: info.version,
      description: 'Orchestration service for AI work.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags,
    paths,
    components: {
      schemas: book.components(),
      responses: printSharedResponses(book, Object.values(routes)),
      securitySchemes,
    },
  }
}
