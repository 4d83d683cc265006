// What every resource carries besides spec and status: names, labels, owners, conditions.
import { z } from 'zod'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'

/** Group and version of all kinds (NAME-003). */
export const apiVersion = 'core.svc.ai/v1alpha1'
/** Keys below this domain belong to the service (NAME-001). */
export const reservedPrefix = 'svc.ai/'

const label = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const qualified =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
const labelText = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/
const recordName = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

const labelAdvice =
  'must be lower-case letters, digits and "-", starting and ending with a letter or digit (a DNS label)'

function nameOf(maxLength: number, pattern: RegExp, advice: string) {
  return limitedText(maxLength).min(1, 'must not be empty').regex(pattern, advice)
}

/** Name of a resource or namespace: a DNS-1123 label of at most 63 characters. */
export const Name = nameOf(63, label, labelAdvice).meta({ example: 'my-name' })
export type Name = z.infer<typeof Name>

/** Name of a Secret, ConfigMap or another foreign object: a DNS-1123 subdomain of at most 253 characters. */
export const ForeignName = nameOf(
  253,
  subdomain,
  'must be lower-case letters, digits, "-" and ".", as names of Secrets and ConfigMaps are',
)
export type ForeignName = z.infer<typeof ForeignName>

/** Name of a session: letters, digits, `.`, `_` and `-`, at most 128. */
export const RecordName = nameOf(
  128,
  recordName,
  'must be letters, digits, ".", "_" and "-", starting with a letter or digit',
)
export type RecordName = z.infer<typeof RecordName>

/** Key of a label or annotation: `[domain/]name`, the name at most 63 characters. */
export const QualifiedKey = limitedText(317)
  .regex(qualified, 'must be a key like "team" or "example.com/team"')
  .refine((key) => key.slice(key.indexOf('/') + 1).length <= 63, 'must have at most 63 characters after the "/"')
  .refine((key) => key.indexOf('/') <= 253, 'must have at most 253 characters before the "/"')

/** Labels: values of at most 63 letters, digits, `-`, `_`, `.`. */
export const Labels = z.record(
  QualifiedKey,
  limitedText(63).regex(labelText, 'must be at most 63 letters, digits, "-", "_" and "."'),
)
export type Labels = z.infer<typeof Labels>

/** In bytes of UTF-8, over all keys and values. */
export function countBytes(map: Record<string, string>): number {
  const encoder = new TextEncoder()
  return Object.entries(map).reduce((sum, entry) => sum + encoder.encode(entry.join('')).length, 0)
}

/** Annotations: any text, 256 KiB over all keys and values, as in Kubernetes. */
export const Annotations = z
  .record(QualifiedKey, z.string())
  .refine((map) => countBytes(map) <= 262_144, 'must be at most 256 KiB over all keys and values')
export type Annotations = z.infer<typeof Annotations>

/** RFC 3339 in UTC: whole seconds in `metadata`, milliseconds elsewhere (HTTP-027). */
export const Timestamp = z.iso.datetime()
export type Timestamp = z.infer<typeof Timestamp>

/** An object that owns another one. */
export const OwnerReference = z
  .object({
    apiVersion: field(z.string(), 'API version of the owner.', 'core.svc.ai/v1alpha1'),
    kind: field(z.string(), 'Kind of the owner.', 'Task'),
    name: field(z.string(), 'Name of the owner.', 'nightly-report'),
    uid: field(z.string(), 'Uid of the owner.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
    controller: field(z.boolean().optional(), 'Whether the owner manages the object.'),
    blockOwnerDeletion: field(z.boolean().optional(), 'Whether the owner stays until this object is gone.'),
  })
  .meta({ id: 'OwnerReference' })
export type OwnerReference = z.infer<typeof OwnerReference>

/** Metadata as stored. uid, resourceVersion, generation and the timestamps are set by the store. */
export const ObjectMeta = z
  .object({
    name: field(Name, 'Name, unique for its kind in the namespace.'),
    namespace: field(Name, 'Namespace that the object is in.', 'default'),
    uid: field(z.string(), 'Id that no other object ever gets.', '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10'),
    resourceVersion: field(z.string(), 'Changes with every write; compare it for equality only.', '1042'),
    generation: field(z.int().min(0), 'Rises each time the spec changes.', 1),
    creationTimestamp: field(Timestamp, 'When the object was created.'),
    deletionTimestamp: field(Timestamp.optional(), 'When its deletion was asked for, while finalizers still hold it.'),
    labels: field(Labels.optional(), 'Labels to select by.', { team: 'search' }),
    annotations: field(Annotations.optional(), 'Notes that are not selected by.', { 'example.com/owner': 'ada' }),
    finalizers: field(z.array(z.string()).optional(), 'Work that must be done before the object is removed.', [
      'core.svc.ai/cleanup',
    ]),
    ownerReferences: field(
      z.array(OwnerReference).optional(),
      'Objects that this one belongs to; it is deleted with them.',
    ),
  })
  .meta({ id: 'ObjectMeta' })
export type ObjectMeta = z.infer<typeof ObjectMeta>

/**
 * Metadata as a client may send it: what the server sets is accepted and ignored (HTTP-016), except that
 * `resourceVersion` and `uid` of a PUT are preconditions (HTTP-039).
 */
export const MetadataInput = z
  .strictObject({
    name: field(Name.optional(), 'Name of the object.', 'nightly-report'),
    namespace: field(Name.optional(), "Namespace of the object. Without it: the caller's own.", 'default'),
    labels: field(Labels.optional(), 'Labels to select by.', { team: 'search' }),
    annotations: field(Annotations.optional(), 'Notes that are not selected by.', { 'example.com/owner': 'ada' }),
    uid: field(
      z.string().optional(),
      'In a PUT: the uid that the stored object must have.',
      '0192f0c1-5c7a-7c1e-9d55-0f5a3a7b9c10',
    ),
    resourceVersion: field(z.string().optional(), 'In a PUT: the version that the stored object must have.', '1042'),
    generation: field(z.unknown().optional(), 'Ignored; the service sets it.'),
    creationTimestamp: field(z.unknown().optional(), 'Ignored; the service sets it.'),
    deletionTimestamp: field(z.unknown().optional(), 'Ignored; the service sets it.'),
    deletionGracePeriodSeconds: field(z.unknown().optional(), 'Ignored.'),
    finalizers: field(z.unknown().optional(), 'Ignored; the service sets it.'),
    ownerReferences: field(z.unknown().optional(), 'Ignored; the service sets it.'),
    managedFields: field(z.unknown().optional(), 'Ignored; the service sets it.'),
    selfLink: field(z.unknown().optional(), 'Ignored.'),
    generateName: field(z.unknown().optional(), 'Ignored; a name that is missing is made up by the service.'),
  })
  .meta({ id: 'MetadataInput' })
export type MetadataInput = z.infer<typeof MetadataInput>

/** One observation of a controller, as in Kubernetes. */
export const Condition = z
  .object({
    type: field(z.string(), 'What the condition is about.', 'Ready'),
    status: field(z.enum(['True', 'False', 'Unknown']), 'Whether it holds.'),
    reason: field(z.string(), 'Why, as one word for programs.', 'SecretMissing'),
    message: field(z.string(), 'Why and what to do, for people.', 'the Secret main-key is missing; create it'),
    lastTransitionTime: field(Timestamp, 'When `status` last changed.'),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that the condition is about.', 1),
  })
  .meta({ id: 'Condition' })
export type Condition = z.infer<typeof Condition>

/** Makes the schema of one kind's objects. */
export function defineResource<const K extends string, S extends z.ZodType, St extends z.ZodType>(
  kind: K,
  shapes: { spec: S; status: St },
) {
  return z
    .object({
      apiVersion: field(z.literal(apiVersion), 'Version of the API.'),
      kind: field(z.literal(kind), 'Kind of the object.'),
      metadata: field(ObjectMeta, 'Name, labels and what the service keeps about the object.'),
      spec: field(shapes.spec, 'What is wanted.'),
      status: field(shapes.status.optional(), 'What is; written by the service.'),
    })
    .meta({ id: kind })
}
