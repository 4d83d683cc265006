// Which JSON Schemas an answer can be asked to match: the well-known keywords, within bounds, that refer to nothing
// outside themselves.
import type { Problem } from '../../errors.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { formatPath } from './validation.ts'

/** The schema is part of every request to the model. */
const maxSchemaBytes = 65_536
/** Schemas inside one another. */
const deepestSchema = 32

const typeNames: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']

/** What `$schema` may name, without the scheme and a final `#`, and what the validator calls it. */
const drafts = {
  '//json-schema.org/draft/2020-12/schema': '2020-12',
  '//json-schema.org/draft/2019-09/schema': '2019-09',
  '//json-schema.org/draft-07/schema': '7',
} as const

/** The draft that `$schema` names; 2020-12 when it names none. Undefined for others. */
export function schemaDraftOf({ $schema }: JsonObject): '2020-12' | '2019-09' | '7' | undefined {
  if ($schema === undefined) return '2020-12'
  const name = String($schema)
    .replace(/^https?:/, '')
    .replace(/#$/, '')
  return Object.hasOwn(drafts, name) ? drafts[name as keyof typeof drafts] : undefined
}

/** What is wrong with a value, if anything. */
type Check = (value: unknown) => string | undefined

const isCount: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? undefined : 'must be a whole number, 0 or more'
const isNumber: Check = (value) => (typeof value === 'number' ? undefined : 'must be a number')
const isText: Check = (value) => (typeof value === 'string' ? undefined : 'must be a text')
const isSwitch: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

const areNames: Check = (value) => (isNames(value) ? undefined : 'must be a list of property names')

const isType: Check = (value) => {
  const names = Array.isArray(value) ? value : [value]
  const isKnown = names.length > 0 && names.every((name) => typeNames.includes(name))
  return isKnown ? undefined : `must be one of ${typeNames.join(', ')}, or a list of these`
}

const isPattern: Check = (value) => {
  if (typeof value !== 'string') return 'must be a text'
  try {
    new RegExp(value, 'u')
    return undefined
  } catch {
    return 'is not a regular expression'
  }
}

const isElsewhere: Check = () => 'is not supported: give the definitions in $defs and refer to them with #/$defs/NAME'

/** Keywords with plain values. Those that are in no table here say nothing about the answer and are left alone. */
const plain: Record<string, Check> = {
  type: isType,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? undefined : 'must be a list of values'),
  required: areNames,
  pattern: isPattern,
  format: isText,
  title: isText,
  description: isText,
  uniqueItems: isSwitch,
  multipleOf: (value) => (typeof value === 'number' && value > 0 ? undefined : 'must be a number above 0'),
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  dependentRequired: (value) =>
    isJsonObject(value) && Object.values(value).every(isNames) ? undefined : 'must hold lists of names by name',
  id: isElsewhere,
  $id: isElsewhere,
  $anchor: isElsewhere,
  $dynamicRef: isElsewhere,
  $dynamicAnchor: isElsewhere,
  $recursiveRef: isElsewhere,
  $recursiveAnchor: isElsewhere,
  $vocabulary: isElsewhere,
}

/** What stands at a keyword: one schema, a list of them, or an object that holds them by name. */
type KeywordShape = 'one' | 'list' | 'names'

const keywordShapes = new Map<string, KeywordShape>([
  ...['items', 'contains', 'additionalProperties', 'propertyNames'].map((name) => [name, 'one'] as const),
  ...['unevaluatedProperties', 'unevaluatedItems'].map((name) => [name, 'one'] as const),
  ...['not', 'if', 'then', 'else'].map((name) => [name, 'one'] as const),
  ...['prefixItems', 'allOf', 'anyOf', 'oneOf'].map((name) => [name, 'list'] as const),
  ...['properties', 'patternProperties', '$defs', 'definitions'].map((name) => [name, 'names'] as const),
  ['dependentSchemas', 'names'],
])

/** Their schemas are for the same value as the schema around them. */
const forSameValue = ['not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf', 'dependentSchemas']

type Path = readonly PropertyKey[]
type Inner = { path: Path; schema: unknown }

/** Before 2020-12 `items` may be a list, which `additionalItems` continues. */
function shapeOf(keyword: string, value: unknown, isOld: boolean): KeywordShape | undefined {
  if (isOld && keyword === 'items' && Array.isArray(value)) return 'list'
  if (isOld && keyword === 'additionalItems') return 'one'
  return keywordShapes.get(keyword)
}

/** The schemas that stand there, or what is wrong with the value. */
function innerOf(keyword: string, value: unknown, shape: KeywordShape): Inner[] | string {
  if (shape === 'one') return [{ path: [keyword], schema: value }]
  if (shape === 'list' && Array.isArray(value) && value.length > 0) {
    return value.map((schema, index) => ({ path: [keyword, index], schema }))
  }
  if (shape === 'list') return 'must be a list of schemas'
  if (!isJsonObject(value)) return 'must be an object of schemas by name'
  return Object.entries(value).map(([name, schema]) => ({ path: [keyword, name], schema }))
}

type Walk = {
  root: JsonObject
  isOld: boolean
  problems: Problem[]
  /** For each schema those that the same value has to match. */
  sameValue: Map<object, object[]>
}

/** As a JSON pointer in a URI writes it (RFC 6901). */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return name
  }
}

/** Where a reference such as `#/$defs/item` leads; undefined when there is no schema. */
function findTarget(root: JsonObject, reference: unknown): unknown {
  if (reference === '#') return root
  const [, keyword = '', name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(reference)) ?? []
  const schemas = root[keyword]
  if (name === undefined || !isJsonObject(schemas)) return undefined
  const key = decodeName(name)
  return Object.hasOwn(schemas, key) ? schemas[key] : undefined
}

function note({ problems }: Walk, at: Path, message: string): void {
  problems.push({ path: formatPath(at), message })
}

function checkReference(walk: Walk, { $ref }: JsonObject, at: Path): object[] {
  if ($ref === undefined) return []
  const target = findTarget(walk.root, $ref)
  if (target === undefined)
    note(walk, [...at, '$ref'], 'must be # or lead to a definition in this schema, as #/$defs/NAME')
  return isJsonObject(target) ? [target] : []
}

function checkSchema(walk: Walk, schema: unknown, at: Path, depth: number): void {
  if (typeof schema === 'boolean') return
  if (!isJsonObject(schema)) note(walk, at, 'must be a schema: an object, true or false')
  else if (depth > deepestSchema) note(walk, at, `is nested too deeply: at most ${deepestSchema} levels`)
  else checkKeywords(walk, schema, at, depth)
}

function checkKeywords(walk: Walk, schema: JsonObject, at: Path, depth: number): void {
  const same = checkReference(walk, schema, at)
  walk.sameValue.set(schema, same)
  for (const [keyword, value] of Object.entries(schema)) {
    for (const { path, schema: part } of readKeyword(walk, keyword, { value, at })) {
      checkSchema(walk, part, [...at, ...path], depth + 1)
      if (forSameValue.includes(keyword) && isJsonObject(part)) same.push(part)
    }
  }
}

/** The schemas of a keyword; notes what is wrong with its value. */
function readKeyword(walk: Walk, keyword: string, { value, at }: { value: unknown; at: Path }): Inner[] {
  const shape = shapeOf(keyword, value, walk.isOld)
  const inner = shape === undefined ? checkPlain(keyword, value) : innerOf(keyword, value, shape)
  if (typeof inner !== 'string') return inner
  note(walk, [...at, keyword], inner)
  return []
}

function checkPlain(keyword: string, value: unknown): Inner[] | string {
  return (Object.hasOwn(plain, keyword) && plain[keyword]?.(value)) || []
}

/** Whether a schema asks a value to match that same schema first, which never ends. */
function isCircular({ sameValue }: Walk): boolean {
  const done = new Set<object>()
  const open = new Set<object>()
  const visit = (schema: object): boolean => {
    if (open.has(schema)) return true
    if (done.has(schema)) return false
    open.add(schema)
    const found = (sameValue.get(schema) ?? []).some(visit)
    open.delete(schema)
    done.add(schema)
    return found
  }
  return [...sameValue.keys()].some(visit)
}

/** Why no answer can be asked to match the schema; the paths begin with `at`. Empty when it can. */
export function outputSchemaProblems(schema: JsonObject, at: Path): Problem[] {
  const size = JSON.stringify(schema).length
  const draft = schemaDraftOf(schema)
  const walk: Walk = { root: schema, isOld: draft !== '2020-12', problems: [], sameValue: new Map() }
  if (size > maxSchemaBytes) note(walk, at, `has ${size} characters as JSON; at most ${maxSchemaBytes}`)
  else if (draft === undefined) note(walk, [...at, '$schema'], 'must be draft 2020-12, 2019-09 or 07 of JSON Schema')
  else checkSchema(walk, schema, at, 1)
  if (walk.problems.length === 0 && isCircular(walk)) {
    note(walk, at, 'has a $ref that leads back to itself without a property or an item in between')
  }
  return walk.problems
}
