// The body of POST /api/v1/tasks: flat, `{metadata, spec}`, or both; flat fields that are not empty take precedence (TASK-033).
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import type { SpecOf } from '../../kinds/index.ts'
import { Annotations, Labels, MetadataInput, Name } from '../../kinds/resources/metadata.ts'
import { TaskSpec } from '../../kinds/tasks/task.ts'
import { field } from '../../schema/field.ts'
import { addProblems, joinPath, parseOrThrow } from '../../schema/validation.ts'
import {
  type CreateBody,
  type DraftMetadata,
  findReservedAnnotations,
  findUnknownKeys,
  ignoredShape,
  pickDraftMetadata,
  type Reading,
  readMetadata,
  readPart,
  readSpec,
} from '../resources/resource-body.ts'
import { documentAs } from '../resources/route.ts'

/** Spec fields that are also accepted at the top level. */
export const flatSpecKeys = [
  'type',
  'image',
  'command',
  'args',
  'env',
  'artifactsDir',
  'timeout',
  'budget',
  'priority',
  'retryPolicy',
  'webhookURL',
  'secretRef',
  'sessionRef',
  'ai',
  'agentRef',
  'prompt',
  'agentRuntime',
  'execution',
  'workspace',
  'priorTaskRef',
  'schedule',
  'timeZone',
  'concurrencyPolicy',
  'suspend',
  'ttlSecondsAfterFinished',
] as const satisfies (keyof TaskSpec)[]
type FlatSpecKey = (typeof flatSpecKeys)[number]

const identityKeys = new Set(['requestedby', 'transaction'])
const embeddingKeys = new Set(['spec', 'task', 'taskspec', 'template', 'tasktemplate'])
const allowedKeys = new Set([
  ...Object.keys(ignoredShape),
  ...flatSpecKeys,
  'name',
  'namespace',
  'labels',
  'annotations',
  'metadata',
  'spec',
])
// A run of a schedule is named <name>-<unix seconds>, which must also be a valid name.
export const scheduledNameLength = 52

/**
 * Keys `requestedBy` and `transaction`, in any case, at the root, in `spec` and in task specs inside it (TASK-018 to
 * TASK-021, TASK-030). Free-form maps such as labels and schemas are not searched (TASK-031).
 */
export function findIdentityKeys(body: Record<string, unknown>, path = '', depth = 0): Problem[] {
  if (depth > 8) return []
  return Object.entries(body).flatMap(([key, value]) => {
    const at = joinPath(path, key.slice(0, 200))
    if (identityKeys.has(key.toLowerCase())) return [{ path: at, message: 'cannot be set by clients; remove it' }]
    const isEmbedded = embeddingKeys.has(key.toLowerCase()) && isJsonObject(value)
    return isEmbedded ? findIdentityKeys(value, at, depth + 1) : []
  })
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}

function pickFlatSpec(body: Record<string, unknown>): Record<string, unknown> {
  const entries = flatSpecKeys.map((key) => [key, body[key]] as const).filter(([, value]) => !isEmpty(value))
  return Object.fromEntries(entries)
}

function readTaskSpec(body: Record<string, unknown>): Reading<SpecOf<'Task'>> {
  const flat = pickFlatSpec(body)
  if (body.spec !== undefined && body.spec !== null && !isJsonObject(body.spec)) {
    return { problems: [{ path: 'spec', message: 'must be an object' }] }
  }
  const nested = Object.entries(body.spec ?? {}).filter(([key]) => !identityKeys.has(key.toLowerCase()))
  const { value, problems } = readSpec('Task', { ...Object.fromEntries(nested), ...flat })
  const prefix = (path: string) => {
    const field = /^[^.[]*/.exec(path)?.[0] ?? ''
    return Object.hasOwn(flat, field) || body.spec === undefined ? path : joinPath('spec', path)
  }
  return { ...(value === undefined ? {} : { value }), problems: problems.map((p) => ({ ...p, path: prefix(p.path) })) }
}

// Created once, because building a schema costs more than using it.
const optional = { name: Name.optional(), labels: Labels.optional(), annotations: Annotations.optional() }

function readTaskMetadata(body: Record<string, unknown>): Reading<MetadataInput> {
  const pick = (key: string) => (isEmpty(body[key]) ? undefined : body[key])
  const name = readPart(optional.name, pick('name'), 'name')
  const namespace = readPart(optional.name, pick('namespace'), 'namespace')
  const labels = readPart(optional.labels, pick('labels'), 'labels')
  const annotations = readPart(optional.annotations, pick('annotations'), 'annotations')
  const metadata = readMetadata(body.metadata)
  const problems = [
    ...[name, namespace, labels, annotations, metadata].flatMap((reading) => reading.problems),
    ...findReservedAnnotations(body.annotations, 'annotations'),
    ...findReservedAnnotations(
      isJsonObject(body.metadata) ? body.metadata.annotations : undefined,
      'metadata.annotations',
    ),
  ]
  const nested = metadata.value ?? {}
  const value = {
    ...nested,
    name: name.value ?? nested.name,
    namespace: namespace.value ?? nested.namespace,
    labels: mergeMaps(nested.labels, labels.value),
    annotations: mergeMaps(nested.annotations, annotations.value),
  }
  const isNameless = isEmpty(body.name) && !(isJsonObject(body.metadata) && !isEmpty(body.metadata.name))
  if (isNameless) problems.push({ path: 'name', message: 'is required' })
  return { value, problems }
}

function mergeMaps(low?: Record<string, string>, high?: Record<string, string>): Record<string, string> | undefined {
  return low === undefined && high === undefined ? undefined : { ...low, ...high }
}

/** The problem of a name that is too long for a schedule, whose runs have longer names. */
export function findNameProblems(name: string | undefined, spec: SpecOf<'Task'> | undefined): Problem[] {
  if (spec?.schedule === undefined || name === undefined || name.length <= scheduledNameLength) return []
  const message = `must have at most ${scheduledNameLength} characters for a task with a schedule`
  return [{ path: 'name', message }]
}

function readTaskBody(body: unknown): Reading<{ metadata: DraftMetadata; spec: SpecOf<'Task'> }> {
  if (!isJsonObject(body)) return { problems: [{ path: '', message: 'the body must be a JSON object' }] }
  const metadata = readTaskMetadata(body)
  const spec = readTaskSpec(body)
  const identity = findIdentityKeys(body)
  const name = metadata.value?.name
  const named = new Set(identity.map((problem) => problem.path))
  const problems = [
    ...identity,
    ...findUnknownKeys(body, allowedKeys),
    ...metadata.problems,
    ...spec.problems,
    ...findNameProblems(name, spec.value),
  ].filter((problem, index) => index < identity.length || !named.has(problem.path))
  if (problems.length > 0 || metadata.value === undefined || name === undefined || spec.value === undefined) {
    return { problems }
  }
  return { value: { metadata: pickDraftMetadata(metadata.value, name), spec: spec.value }, problems }
}

const flatMask = Object.fromEntries(flatSpecKeys.map((key) => [key, true])) as Record<FlatSpecKey, true>

/** Schema of the body; parsing returns metadata and spec, or all problems. */
export const TaskCreate = documentAs(
  z.unknown().transform((body, context): CreateBody<'Task'> => {
    const { value, problems } = readTaskBody(body)
    addProblems(context, problems)
    return value ?? z.NEVER
  }),
  z
    .strictObject({
      ...ignoredShape,
      name: field(Name.optional(), 'Name of the task. Without it: made up by the service.', 'nightly-report'),
      namespace: field(Name.optional(), "Namespace of the task. Without it: the caller's own.", 'default'),
      labels: field(Labels.optional(), 'Labels to select by; the same as `metadata.labels`.', { team: 'search' }),
      annotations: field(Annotations.optional(), 'Notes; the same as `metadata.annotations`.', {
        'example.com/owner': 'ada',
      }),
      ...TaskSpec.pick(flatMask).partial().shape,
      metadata: field(MetadataInput.optional(), 'Name, namespace, labels and annotations.'),
      spec: field(
        TaskSpec.omit({ requestedBy: true, transaction: true }).partial({ type: true }).optional(),
        'What is wanted; its fields may also stand at the top of the body.',
      ),
    })
    .meta({ id: 'TaskCreate' }),
)

/** Metadata and spec of a task body of any accepted shape. InvalidRequest with every problem. */
export function normalizeTaskBody(body: unknown): CreateBody<'Task'> {
  return parseOrThrow(TaskCreate, body, 'task')
}
