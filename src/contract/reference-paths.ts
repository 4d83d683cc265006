// Where each kind names Secrets, ConfigMaps and other resources, read from the marks in its schema: every door asks for the
// author's right on what stands there, and a new field is asked about as soon as it is marked.
import { z } from 'zod'
import { type Kind, kinds, type SpecOf } from './resources/index.ts'
import { type ReferenceTarget, referenceMark } from './resources/references.ts'

/** Stands in a path for every entry of a list. */
export const each = '[]'

/** Where a spec names another resource. */
export type ReferencePath = {
  target: ReferenceTarget
  /** From the spec to the object with the name, for example `env`, `[]`, `valueFrom`, `secretKeyRef`. */
  path: readonly string[]
  /** Whether it can name another namespace. */
  crosses: boolean
}

/** A resource that a spec names. */
export type Reference = {
  kind: ReferenceTarget
  name: string
  /** Absent: that of the object itself. */
  namespace?: string
  /** Where it stands, for example `spec.env[0].valueFrom.secretKeyRef`. */
  field: string
}

/** What wraps a schema without changing where its parts stand. */
function unwrap(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return schema.unwrap() as z.ZodType
  }
  return schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : undefined
}

/** Every schema below one, with where it stands. Values of maps have no fixed place and are left out. */
export function* walkSchema(
  schema: z.ZodType,
  path: readonly string[] = [],
): Generator<[z.ZodType, readonly string[]]> {
  yield [schema, path]
  const inner = unwrap(schema)
  if (inner !== undefined) yield* walkSchema(inner, path)
  if (schema instanceof z.ZodArray) yield* walkSchema(schema.element as z.ZodType, [...path, each])
  if (schema instanceof z.ZodObject) {
    for (const [key, part] of Object.entries(schema.shape)) yield* walkSchema(part as z.ZodType, [...path, key])
  }
}

function findPaths(kind: Kind): ReferencePath[] {
  const found: ReferencePath[] = []
  for (const [schema, path] of walkSchema(kinds[kind].spec)) {
    const target = schema.meta()?.[referenceMark] as ReferenceTarget | undefined
    if (target === undefined || !(schema instanceof z.ZodObject)) continue
    found.push({ target, path, crosses: 'namespace' in schema.shape })
  }
  return found
}

const known = new Map<Kind, ReferencePath[]>()

/** Every place where a spec of the kind names something. */
export function listReferencePaths(kind: Kind): readonly ReferencePath[] {
  const paths = known.get(kind) ?? findPaths(kind)
  known.set(kind, paths)
  return paths
}

type FoundValue = { value: unknown; field: string }

function step(places: FoundValue[], part: string): FoundValue[] {
  return places.flatMap(({ value, field }) => {
    if (typeof value !== 'object' || value === null) return []
    if (part === each)
      return (value as unknown[]).map((entry, index) => ({ value: entry, field: `${field}[${index}]` }))
    return [{ value: (value as Record<string, unknown>)[part], field: `${field}.${part}` }]
  })
}

function findAt(spec: unknown, { target, path }: ReferencePath): Reference[] {
  return path.reduce(step, [{ value: spec, field: 'spec' }]).flatMap(({ value, field }) => {
    if (typeof value !== 'object' || value === null) return []
    const { name, namespace } = value as { name: string; namespace?: string }
    return [{ kind: target, name, field, ...(namespace === undefined ? {} : { namespace }) }]
  })
}

/** Everything that a spec names and whose author must be allowed to read it. */
export function findReferences<K extends Kind>(kind: K, spec: SpecOf<K>): Reference[] {
  return listReferencePaths(kind).flatMap((path) => findAt(spec, path))
}

/** Fields that say when and how often something runs, never where what it names is sent. */
const timingFields: readonly string[] = ['suspend', 'schedule', 'timeZone', 'priority', 'ttlSecondsAfterFinished']

/** Fields of a kind's spec that decide what becomes of the things it names; when one changes, its author is asked again. */
export function listGuardedFields(kind: Kind): string[] {
  const { shape } = kinds[kind].spec as z.ZodObject
  return Object.keys(shape).filter((field) => !timingFields.includes(field))
}
