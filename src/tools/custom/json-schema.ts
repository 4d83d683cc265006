// Checks a model's arguments against a user's JSON Schema: types, required names and enums, at every depth.
// Other keywords are left to the endpoint: a user's `pattern` could take forever on a model's text.
import { isJsonObject } from '../../contract/schema/json.ts'

type Schema = Record<string, unknown>

const deepest = 32

/** Every problem as `path: what is wrong`; unknown names are only a problem when additionalProperties is false. */
export function findArgumentProblems(schema: Schema, value: unknown): string[] {
  return checkValue(schema, value, { path: '', depth: 0 })
}

type Position = { path: string; depth: number }

function checkValue(schema: unknown, value: unknown, position: Position): string[] {
  if (!isJsonObject(schema) || position.depth > deepest) return []
  const types = namedTypes(schema.type)
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    return [describe(position, `must be ${types.join(' or ')}, not ${typeOf(value)}`)]
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => isSame(allowed, value))) {
    return [describe(position, `must be one of ${JSON.stringify(schema.enum).slice(0, 300)}`)]
  }
  if (Array.isArray(value)) return checkItems(schema.items, value, position)
  return isJsonObject(value) ? checkProperties(schema, value, position) : []
}

function checkItems(items: unknown, values: unknown[], position: Position): string[] {
  return values.flatMap((value, index) => checkValue(items, value, enter(position, String(index))))
}

function checkProperties(schema: Schema, value: Schema, position: Position): string[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const unknown =
    schema.additionalProperties === false ? Object.keys(value).filter((n) => !Object.hasOwn(properties, n)) : []
  return [
    ...missing.map((name) => describe(enter(position, name), 'is required')),
    ...unknown.map((name) => describe(enter(position, name), 'is not known')),
    ...Object.entries(properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .flatMap(([name, property]) => checkValue(property, value[name], enter(position, name))),
  ]
}

function enter(position: Position, name: string): Position {
  return { path: position.path === '' ? name : `${position.path}.${name}`, depth: position.depth + 1 }
}

function describe(position: Position, problem: string): string {
  return position.path === '' ? problem : `${position.path}: ${problem}`
}

function namedTypes(type: unknown): string[] {
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
}

function hasType(value: unknown, type: string): boolean {
  const actual = typeOf(value)
  if (type === 'number') return actual === 'number' || actual === 'integer'
  return actual === type
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
