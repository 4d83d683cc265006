// Checks a model's arguments against a user's JSON Schema: types, required names and enums, at every depth.
// Other keywords are left to the endpoint: a user's `pattern` could take forever on a model's text.
import { isJsonObject } from '../../contract/json.ts'

type Schema = Record<string, unknown>

const deepest = 32

/** Every problem as `path: what is wrong`; unknown names are only a problem when additionalProperties is false. */
export function findArgumentProblems(schema: Schema, value: unknown): string[] {
  return checkValue(schema, value, { path: '', depth: 0 })
}

type Place = { path: string; depth: number }

function checkValue(schema: unknown, value: unknown, place: Place): string[] {
  if (!isJsonObject(schema) || place.depth > deepest) return []
  const types = namedTypes(schema.type)
  if (types.length > 0 && !types.some((type) => hasType(value, type))) {
    return [describe(place, `must be ${types.join(' or ')}, not ${typeOf(value)}`)]
  }
  if (Array.isArray(schema.enum) && !schema.enum.some((allowed) => isSame(allowed, value))) {
    return [describe(place, `must be one of ${JSON.stringify(schema.enum).slice(0, 300)}`)]
  }
  if (Array.isArray(value)) return checkItems(schema.items, value, place)
  return isJsonObject(value) ? checkProperties(schema, value, place) : []
}

function checkItems(items: unknown, values: unknown[], place: Place): string[] {
  return values.flatMap((value, index) => checkValue(items, value, enter(place, String(index))))
}

function checkProperties(schema: Schema, value: Schema, place: Place): string[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const unknown =
    schema.additionalProperties === false ? Object.keys(value).filter((n) => !Object.hasOwn(properties, n)) : []
  return [
    ...missing.map((name) => describe(enter(place, name), 'is required')),
    ...unknown.map((name) => describe(enter(place, name), 'is not known')),
    ...Object.entries(properties)
      .filter(([name]) => Object.hasOwn(value, name))
      .flatMap(([name, property]) => checkValue(property, value[name], enter(place, name))),
  ]
}

function enter(place: Place, name: string): Place {
  return { path: place.path === '' ? name : `${place.path}.${name}`, depth: place.depth + 1 }
}

function describe(place: Place, problem: string): string {
  return place.path === '' ? problem : `${place.path}: ${problem}`
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
