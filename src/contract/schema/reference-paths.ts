// Where each kind names Secrets, ConfigMaps and other resources, derived from the marks in its schema. Every entry point
// checks the author's right to what is named there; marking a new field is enough to have it checked.
import { z } from 'zod'
import { type Kind, kinds, type SpecOf } from '../kinds/index.ts'
import { type ReferenceTarget, referenceMark } from '../kinds/resources/references.ts'

/** In a path, stands for every entry of a list. */
export const each = '[]'

/** Where a spec names another resource. */
export type ReferencePath = {
  target: ReferenceTarget
  /** The path from the spec to the object with the name, for example `env`, `[]`, `valueFrom`, `secretKeyRef`. */
  path: readonly string[]
  /** Whether it can name another namespace. */
  crosses: boolean
}

/** A resource that a spec names. */
export type Reference = {
  kind: ReferenceTarget
  name: string
  /** Absent: the namespace of the object itself. */
  namespace?: string
  /** Its position, for example `spec.env[0].valueFrom.secretKeyRef`. */
  field: string
}

/** Wrappers of a schema that do not change the paths of its parts. */
function unwrap(schema: z.ZodType): z.ZodType | undefined {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  ) {
    return schema.unwrap() as z.ZodType
  }
  return schema instanceof z.ZodPipe ? (schema.in as z.ZodType) : undefined
}

/** Every schema within another, with its path. Values of maps have no fixed path and are left out. */
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

/** Every path at which a spec of the kind names something. */
export function listReferencePaths(kind: Kind): readonly ReferencePath[] {
  const paths = known.get(kind) ?? findPaths(kind)
  known.set(kind, paths)
  return paths
}

type FoundValue = { value: unknown; field: string }

function step(values: FoundValue[], part: string): FoundValue[] {
  return values.flatMap(({ value, field }) => {
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

/** Everything that a spec names and its author must be allowed to read. */
export function findReferences<K extends Kind>(kind: K, spec: SpecOf<K>): Reference[] {
  return listReferencePaths(kind).flatMap((path) => findAt(spec, path))
}

/** Fields that decide when and how often something runs, but never where something that it names is sent. */
const timingFields: readonly string[] = ['suspend', 'schedule', 'timeZone', 'priority', 'ttlSecondsAfterFinished']

/** Fields of a kind's spec that decide how the things it names are used; when one changes, its author's rights are checked again. */
export function listGuardedFields(kind: Kind): string[] {
  const { shape } = kinds[kind].spec as z.ZodObject
  return Object.keys(shape).filter((field) => !timingFields.includes(field))
}
