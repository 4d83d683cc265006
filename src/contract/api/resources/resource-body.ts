// Bodies that create or replace a resource: `{name, namespace?, metadata?, spec}`, or an object as GET returns it.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { type Kind, kinds, type SpecOf } from '../../kinds/index.ts'
import { MetadataInput, Name, reservedPrefix } from '../../kinds/resources/metadata.ts'
import { field, oneHolds, publishedMark } from '../../schema/field.ts'
import { addProblems, joinPath, maxProblems, parse, problemsOf } from '../../schema/validation.ts'
import { documentAs } from './route.ts'

/** What the client decides about a new object. */
export type DraftMetadata = {
  name: string
  namespace?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** A parsed POST body. */
export type CreateBody<K extends Kind> = { metadata: DraftMetadata; spec: SpecOf<K> }

/** A parsed PUT body: the whole new spec. metadata.resourceVersion and metadata.uid are preconditions (HTTP-039). */
export type UpdateBody<K extends Kind> = { metadata: MetadataInput; spec: SpecOf<K> }

/** A POST or PUT body as a client sends it. */
export type BodyInput<K extends Kind> = {
  name?: string | undefined
  namespace?: string | undefined
  metadata?: z.input<typeof MetadataInput> | undefined
  spec: z.input<(typeof kinds)[K]['spec']>
  apiVersion?: unknown
  kind?: unknown
  status?: unknown
}

/** Fields that the server sets; accepted and ignored (HTTP-016). */
export const ignoredShape = {
  apiVersion: field(
    z.unknown().optional(),
    'Accepted so that manifests can be sent as they are.',
    'core.svc.ai/v1alpha1',
  ),
  kind: field(z.unknown().optional(), 'Accepted so that manifests can be sent as they are.', 'Task'),
  status: field(z.unknown().optional(), 'Ignored; the service writes it.'),
}
const bodyKeys = new Set([...Object.keys(ignoredShape), 'name', 'namespace', 'metadata', 'spec'])

/** Keeps the metadata that a client may set on a new object. */
export function pickDraftMetadata(metadata: MetadataInput, name: string): DraftMetadata {
  const { namespace, labels, annotations } = metadata
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

const optionalName = Name.nullish()

/** The metadata, merged with the top-level fields, which take precedence. */
function readNaming(body: Record<string, unknown>): Reading<MetadataInput> {
  const name = readPart(optionalName, body.name, 'name')
  const namespace = readPart(optionalName, body.namespace, 'namespace')
  const metadata = readMetadata(body.metadata)
  const problems = [...name.problems, ...namespace.problems, ...metadata.problems]
  if (problems.length > 0) return { problems }
  return {
    value: {
      ...metadata.value,
      name: name.value ?? metadata.value?.name,
      namespace: namespace.value ?? metadata.value?.namespace,
    },
    problems,
  }
}

function readBody<K extends Kind>(kind: K, body: unknown): Reading<UpdateBody<K>> {
  if (!isJsonObject(body)) return { problems: [{ path: '', message: 'the body must be a JSON object' }] }
  const naming = readNaming(body)
  const spec = readSpec(kind, body.spec)
  const specProblems = spec.problems.map((problem) => ({ ...problem, path: joinPath('spec', problem.path) }))
  const problems = [...findUnknownKeys(body, bodyKeys), ...naming.problems, ...specProblems]
  if (problems.length > 0 || naming.value === undefined || spec.value === undefined) return { problems }
  return { value: { metadata: naming.value, spec: spec.value }, problems }
}

const named = { properties: { name: { type: 'string' } }, required: ['name'] }
/** JSON Schema: at least one of the two fields for the name is present. */
export const nameRequired = oneHolds(named, { properties: { metadata: named }, required: ['metadata'] })

function shapeOf<K extends Kind>(kind: K, id: string, rule: object): z.ZodType<unknown, BodyInput<K>> {
  const shape = z.strictObject({
    ...ignoredShape,
    name: field(optionalName, 'Name of the object; the same as `metadata.name`.', 'nightly-report'),
    namespace: field(optionalName, 'Namespace of the object; the same as `metadata.namespace`.', 'default'),
    metadata: field(MetadataInput.optional(), 'Name, namespace, labels and annotations.'),
    spec: field(kinds[kind].spec, 'What is wanted.'),
  })
  return shape.meta({ id, [publishedMark]: rule }) as unknown as z.ZodType<unknown, BodyInput<K>>
}

const nameless: Problem = { path: 'name', message: 'is required' }

/** Schema of the POST body of a kind; parsing returns metadata and spec, or all problems. */
export function createBodyOf<K extends Kind>(kind: K) {
  const schema = z.unknown().transform((body, context): CreateBody<K> => {
    const { value, problems } = readBody(kind, body)
    const isNameless =
      isJsonObject(body) && body.name === undefined && !(isJsonObject(body.metadata) && 'name' in body.metadata)
    addProblems(context, isNameless ? [nameless, ...problems] : problems)
    if (value?.metadata.name === undefined) return z.NEVER
    return { metadata: pickDraftMetadata(value.metadata, value.metadata.name), spec: value.spec }
  })
  return documentAs(schema, shapeOf(kind, `${kind}Create`, nameRequired))
}

/** Schema of the PUT body of a kind: the whole new spec. */
export function updateBodyOf<K extends Kind>(kind: K) {
  const schema = z.unknown().transform((body, context): UpdateBody<K> => {
    const { value, problems } = readBody(kind, body)
    addProblems(context, problems)
    return value ?? z.NEVER
  })
  return documentAs(schema, shapeOf(kind, `${kind}Update`, {}))
}

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
