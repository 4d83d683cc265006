// Custom resource definitions, printed from the same schemas that validate requests.
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { type Kind, type KindInfo, kinds } from '../kinds/index.ts'
import { referenceMark } from '../kinds/resources/references.ts'
import { objectRules, specRules, type ValidationRule } from './crd-rules.ts'
import { printHints, publishedMark } from './field.ts'

const dropped = new Set([
  '$schema',
  'id',
  'definitions',
  'example',
  'examples',
  'propertyNames',
  'x-svc-aliases',
  referenceMark,
  publishedMark,
])
const anything: JsonObject = { 'x-kubernetes-preserve-unknown-fields': true }

function mapValues(object: unknown, change: (value: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries((object ?? {}) as JsonObject).map(([key, value]) => [key, change(value)]))
}

/** Aliases are accepted by REST only: stored objects have the neutral word (NAME-017), and a CRD cannot translate. */
function keepStoredWords(schema: JsonObject): unknown[] {
  const aliases = isJsonObject(schema['x-svc-aliases']) ? schema['x-svc-aliases'] : {}
  return (schema.enum as unknown[]).filter((word) => !(String(word) in aliases))
}

/** Kubernetes has only one union, a number or a text; the service checks all others. */
function convertUnion(options: unknown[]): JsonObject {
  const types = new Set(options.map((option) => (option as JsonObject).type))
  const isIntOrString = [...types].every((type) => type === 'string' || type === 'number' || type === 'integer')
  if (!isIntOrString || !types.has('string') || types.size < 2) return anything
  return { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }
}

/** `kubectl explain` prints only the descriptions of fields, so these include default and example. */
function describeFully(schema: JsonObject): JsonObject {
  if (typeof schema.description !== 'string') return {}
  return { description: [schema.description, ...printHints(schema)].join(' ') }
}

type Convert = (value: unknown) => unknown

/** Replacements of single keywords; undefined removes the keyword. */
const keywords: Record<string, (value: unknown, schema: JsonObject, convert: Convert) => unknown> = {
  properties: (value, _schema, convert) => mapValues(value, convert),
  items: (value, _schema, convert) => convert(value),
  // Structural schemas have either properties or additionalProperties; unknown fields are pruned, or refused by
  // strict field validation.
  additionalProperties: (value, _schema, convert) =>
    value === false || (isJsonObject(value) && Object.keys(value).length === 0) ? undefined : convert(value),
  // Go's regular expressions know no look-around; a time is checked by its format.
  pattern: (value, schema) => (String(value).includes('(?') || schema.format === 'date-time' ? undefined : value),
  enum: (_value, schema) => keepStoredWords(schema),
  maximum: (value) => (value === Number.MAX_SAFE_INTEGER ? undefined : value),
  minimum: (value) => (value === Number.MIN_SAFE_INTEGER ? undefined : value),
}

function isFreeForm(schema: JsonObject): boolean {
  const rest = schema.additionalProperties
  return (
    schema.type === 'object' && schema.properties === undefined && isJsonObject(rest) && Object.keys(rest).length === 0
  )
}

function convertKeywords(schema: JsonObject, convert: Convert): JsonObject {
  const entries = Object.entries(schema)
    .filter(([key]) => !dropped.has(key))
    .map(([key, value]): [string, unknown] => [key, keywords[key] ? keywords[key](value, schema, convert) : value])
    .filter(([, value]) => value !== undefined)
  const result: JsonObject = { ...Object.fromEntries(entries), ...describeFully(schema) }
  if (isFreeForm(schema)) Object.assign(result, anything)
  if (schema.type === 'integer') result.format = 'int64'
  return result
}

/** Makes a schema structural: no references, no closed objects, no unions (apiextensions.k8s.io/v1). */
export function makeStructural(
  schema: JsonObject,
  definitions: JsonObject = (schema.definitions as JsonObject) ?? {},
): JsonObject {
  const convert = (value: unknown): unknown => (isJsonObject(value) ? makeStructural(value, definitions) : value)
  const { $ref, allOf, ...beside } = schema
  // In OpenAPI 3.0 a reference with something beside it stands in an allOf of one.
  const reference = $ref ?? (Array.isArray(allOf) ? (allOf[0] as JsonObject).$ref : undefined)
  if (typeof reference === 'string') {
    const target = definitions[reference.replace('#/definitions/', '')] as JsonObject
    return makeStructural({ ...target, ...beside, definitions: undefined }, definitions)
  }
  const union = schema.anyOf ?? schema.oneOf
  const described = describeFully(schema)
  if (Array.isArray(union)) {
    return {
      ...described,
      ...convertUnion(union),
      ...(schema.default === undefined ? {} : { default: schema.default }),
    }
  }
  if (schema.type === undefined && schema.enum === undefined) return { ...described, ...anything }
  return convertKeywords(schema, convert)
}

function printSchema(schema: z.ZodType): JsonObject {
  return makeStructural(
    z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }) as JsonObject,
  )
}

/** The schema of a spec with its own rules, followed by those that need the whole spec. */
function printSpec(info: KindInfo): JsonObject {
  const schema = printSchema(info.spec)
  const own = (schema['x-kubernetes-validations'] ?? []) as ValidationRule[]
  const rules = [...own, ...(specRules[info.kind as Kind] ?? [])]
  return rules.length === 0 ? schema : { ...schema, 'x-kubernetes-validations': rules }
}

const nameRule: ValidationRule = {
  rule: "self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
  message: 'metadata.name must be a DNS label of at most 63 characters',
}

function printVersion(info: KindInfo): JsonObject {
  const schema = {
    description: info.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: { description: 'What is wanted.', ...printSpec(info) },
      status: { description: 'What is; written by the service.', ...printSchema(info.status) },
    },
    'x-kubernetes-validations': [nameRule, ...(objectRules[info.kind as Kind] ?? [])],
  }
  return {
    name: 'v1alpha1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: schema },
    subresources: { status: {} },
    additionalPrinterColumns: info.columns.map(({ name, type, jsonPath }) => ({ name, type, jsonPath })),
  }
}

/** File name of a kind's definition. */
export function crdFileName(kind: Kind): string {
  return `core.svc.ai_${kinds[kind].plural}.yaml`
}

/** The CustomResourceDefinition of a kind. */
export function buildCrd(kind: Kind): JsonObject {
  const info: KindInfo = kinds[kind]
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${info.plural}.core.svc.ai` },
    spec: {
      group: 'core.svc.ai',
      scope: 'Namespaced',
      names: {
        kind: info.kind,
        listKind: `${info.kind}List`,
        plural: info.plural,
        singular: info.singular,
        ...(info.shortNames.length === 0 ? {} : { shortNames: [...info.shortNames] }),
        categories: [...info.categories],
      },
      versions: [printVersion(info)],
    },
  }
}
