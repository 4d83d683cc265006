// Reads the parts of a body one by one, so that a fault in one part does not hide the faults of another (HTTP-004).

import type { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { type Kind, kinds, type SpecOf } from '../../kinds/index.ts'
import { MetadataInput, reservedPrefix } from '../../kinds/resources/metadata.ts'
import { isJsonObject } from '../../schema/json.ts'
import { joinPath, maxProblems, parse, problemsOf } from '../../schema/validation.ts'

/** A parsed part of a body, and its problems. */
export type Reading<T> = { value?: T; problems: Problem[] }

/** Reads one part; paths of problems start with `path`. */
export function readPart<S extends z.ZodType>(schema: S, input: unknown, path: string): Reading<z.output<S>> {
  const result = parse(schema, input)
  if (result.success) return { value: result.data, problems: [] }
  return { problems: problemsOf(result.error).map((problem) => ({ ...problem, path: joinPath(path, problem.path) })) }
}

/** A copy without some keys of the object at `path`. Only the objects on the path are copied, because inputs can be deep. */
function omitKeys(input: unknown, path: readonly PropertyKey[], keys: readonly string[]): unknown {
  const [part, ...rest] = path
  if (part === undefined) {
    const gone = new Set(keys)
    return Object.fromEntries(Object.entries(input as object).filter(([key]) => !gone.has(key)))
  }
  if (Array.isArray(input)) return input.map((entry, at) => (at === part ? omitKeys(entry, rest, keys) : entry))
  const object = input as Record<PropertyKey, unknown>
  return { ...object, [part]: omitKeys(object[part], rest, keys) }
}

/** The parsed input without its unknown fields; undefined when it has other problems as well. */
function parseKnown<S extends z.ZodType>(schema: S, input: unknown, error: z.core.$ZodError): z.output<S> | undefined {
  // One issue per object with unknown fields: beyond a few the input is not a slip of the pen.
  if (error.issues.length > 20) return undefined
  let known = input
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') return undefined
    known = omitKeys(known, issue.path, issue.keys)
  }
  return parse(schema, known).data
}

/** Reads a spec: its fields, then the rules across them. Paths are relative to the spec. */
export function readSpec<K extends Kind>(kind: K, input: unknown): Reading<SpecOf<K>> {
  if (!isJsonObject(input))
    return { problems: [{ path: '', message: input === undefined ? 'is required' : 'must be an object' }] }
  const { spec: schema, problems: findProblems } = kinds[kind]
  const result = parse(schema as z.ZodType<SpecOf<K>>, input)
  const known = result.success ? result.data : parseKnown(schema as z.ZodType<SpecOf<K>>, input, result.error)
  const across = known === undefined ? [] : (findProblems as (spec: SpecOf<K>) => Problem[])(known)
  if (!result.success) return { problems: [...problemsOf(result.error), ...across] }
  return across.length > 0 ? { problems: across } : { value: result.data, problems: [] }
}

/** A problem for every key of `body` that is not allowed. */
export function findUnknownKeys(body: Record<string, unknown>, allowed: ReadonlySet<string>): Problem[] {
  return Object.keys(body)
    .filter((key) => !allowed.has(key))
    .slice(0, maxProblems)
    .map((key) => ({ path: key.slice(0, 200), message: 'is not a known field' }))
}

/** Annotations of the service's own domain, which clients cannot set on tasks: the service keeps its own state there. */
export function findReservedAnnotations(annotations: unknown, path: string): Problem[] {
  return Object.keys(isJsonObject(annotations) ? annotations : {})
    .filter((key) => key.startsWith(reservedPrefix))
    .map((key) => ({ path: `${path}[${JSON.stringify(key)}]`, message: 'is reserved for the service; remove it' }))
}

/** The metadata of a body; null counts as absent. */
export function readMetadata(input: unknown): Reading<MetadataInput> {
  return readPart(MetadataInput, input ?? {}, 'metadata')
}
