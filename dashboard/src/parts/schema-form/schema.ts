// What a form needs to know of a JSON Schema, as the service publishes those of its kinds: no references, no recursion.

/** The keywords that the service uses. */
export type Schema = {
  type?: string
  description?: string
  default?: unknown
  examples?: unknown[]
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  not?: Schema
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  maxLength?: number
}

export type Fields = Record<string, unknown>

/** What a value is drawn as. */
export type Shape =
  | 'fields'
  | 'map'
  | 'list'
  | 'choice'
  | 'constant'
  | 'flag'
  | 'number'
  | 'line'
  | 'text'
  | 'variants'
  | 'json'

/** Texts that may be longer than this are written in several lines. */
const longestLine = 4000

function shapeOfText({ maxLength = Number.POSITIVE_INFINITY, pattern, format }: Schema): Shape {
  return maxLength <= longestLine || pattern !== undefined || format !== undefined ? 'line' : 'text'
}

function shapeOfObject({ properties, additionalProperties }: Schema): Shape {
  if (properties !== undefined) return 'fields'
  if (typeof additionalProperties !== 'object') return 'json'
  return isOpen(additionalProperties) ? 'json' : 'map'
}

const isOpen = (schema: Schema) => schema.type === undefined && schema.anyOf === undefined

const shapes: Record<string, Shape> = { array: 'list', boolean: 'flag', number: 'number', integer: 'number' }

export function shapeOf(schema: Schema): Shape {
  if (schema.const !== undefined) return 'constant'
  if (schema.enum !== undefined) return 'choice'
  if (schema.type === 'object') return shapeOfObject(schema)
  if (schema.type === 'string') return shapeOfText(schema)
  if (schema.type !== undefined) return shapes[schema.type] ?? 'json'
  return schema.anyOf === undefined ? 'json' : 'variants'
}

const empties: Partial<Record<Shape, unknown>> = { flag: false, line: '', text: '', number: '', list: [] }

/** What a field holds when it is added: its default, or the least that can be filled in. */
export function emptyOf(schema: Schema): unknown {
  const shape = shapeOf(schema)
  if (shape === 'fields') return emptyFields(schema)
  if (schema.default !== undefined) return schema.default
  if (shape === 'constant') return schema.const
  if (shape === 'choice') return schema.enum?.[0]
  if (shape === 'variants') return emptyOf(schema.anyOf?.[0] ?? {})
  return empties[shape] ?? {}
}

function emptyFields({ properties = {}, required = [] }: Schema): Fields {
  const needed = required.flatMap((name) => {
    const schema = properties[name]
    return schema === undefined ? [] : [[name, emptyOf(schema)]]
  })
  return Object.fromEntries(needed) as Fields
}

/** What is shown in an empty control: the default, else an example. */
export function placeholderOf(schema: Schema): string | undefined {
  if (schema.default !== undefined && shapeOf(schema) !== 'fields') return `${print(schema.default)} (default)`
  const [example] = schema.examples ?? []
  return example === undefined ? undefined : `such as ${print(example)}`
}

function print(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Fields of which an object has one at most. */
export function alternativesOf({ not }: Schema): string[] {
  return not?.required?.length === 2 ? not.required : []
}

const isText = (value: unknown) => typeof value === 'string'
const fits: Record<string, (value: unknown) => boolean> = {
  string: isText,
  number: (value) => typeof value === 'number',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
}

/** Which of several schemas the value is of: the first one that its type fits. */
export function variantOf(options: readonly Schema[], value: unknown): number {
  const found = options.findIndex(({ type = 'object' }) => fits[type]?.(value) ?? typeof value === 'object')
  return Math.max(0, found)
}

/** The path of a field, as the service writes the paths of problems. */
export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,199}$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** Whether an optional field says nothing: not filled in, or made of such fields alone. */
function saysNothing(before: unknown, after: unknown): boolean {
  if (after === undefined || after === '') return true
  if (typeof before !== 'object' || before === null || Array.isArray(before)) return false
  return Object.keys(before).length > 0 && Object.keys(after as Fields).length === 0
}

/** The value without optional fields that were added and not filled in. */
export function withoutBlanks(schema: Schema | undefined, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutBlanks(schema?.items, entry))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const own = schema?.properties?.[name]
    const kept = withoutBlanks(own, inner)
    const isOptional = own !== undefined && schema?.required?.includes(name) !== true
    return isOptional && saysNothing(inner, kept) ? [] : [[name, kept]]
  })
  return Object.fromEntries(entries)
}
