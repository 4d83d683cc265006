// What every resource carries besides spec and status: names, labels, owners, conditions.
import { z } from 'zod'

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

/** Nothing further is asked of it: a pattern with repeated groups exhausts the stack on millions of characters. */
const tooLong = { abort: true }

function nameOf(most: number, pattern: RegExp, advice: string) {
  return z.string().min(1, 'must not be empty').max(most, tooLong).regex(pattern, advice)
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
export const QualifiedKey = z
  .string()
  .max(317, tooLong)
  .regex(qualified, 'must be a key like "team" or "example.com/team"')
  .refine((key) => key.slice(key.indexOf('/') + 1).length <= 63, 'must have at most 63 characters after the "/"')
  .refine((key) => key.indexOf('/') <= 253, 'must have at most 253 characters before the "/"')

/** Labels: values of at most 63 letters, digits, `-`, `_`, `.`. */
export const Labels = z.record(
  QualifiedKey,
  z.string().max(63).regex(labelText, 'must be at most 63 letters, digits, "-", "_" and "."'),
)
export type Labels = z.infer<typeof Labels>

/** UTF-8, over all keys and values. */
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

export const OwnerReference = z
  .object({
    apiVersion: z.string(),
    kind: z.string(),
    name: z.string(),
    uid: z.string(),
    controller: z.boolean().optional(),
    blockOwnerDeletion: z.boolean().optional(),
  })
  .meta({ id: 'OwnerReference' })
export type OwnerReference = z.infer<typeof OwnerReference>

/** Metadata as stored. uid, resourceVersion, generation and the timestamps are set by the store. */
export const ObjectMeta = z
  .object({
    name: Name,
    namespace: Name,
    uid: z.string(),
    /** Opaque; rises with every write. */
    resourceVersion: z.string(),
    /** Rises when spec changes. */
    generation: z.int().min(0),
    creationTimestamp: Timestamp,
    /** Set while finalizers hold a deleted object back. */
    deletionTimestamp: Timestamp.optional(),
    labels: Labels.optional(),
    annotations: Annotations.optional(),
    finalizers: z.array(z.string()).optional(),
    ownerReferences: z.array(OwnerReference).optional(),
  })
  .meta({ id: 'ObjectMeta' })
export type ObjectMeta = z.infer<typeof ObjectMeta>

/**
 * Metadata as a client may send it: what the server sets is accepted and ignored (HTTP-016), except that
 * `resourceVersion` and `uid` of a PUT are preconditions (HTTP-039).
 */
export const MetadataInput = z
  .strictObject({
    name: Name.optional(),
    namespace: Name.optional(),
    labels: Labels.optional(),
    annotations: Annotations.optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.unknown().optional(),
    creationTimestamp: z.unknown().optional(),
    deletionTimestamp: z.unknown().optional(),
    deletionGracePeriodSeconds: z.unknown().optional(),
    finalizers: z.unknown().optional(),
    ownerReferences: z.unknown().optional(),
    managedFields: z.unknown().optional(),
    selfLink: z.unknown().optional(),
    generateName: z.unknown().optional(),
  })
  .meta({ id: 'MetadataInput' })
export type MetadataInput = z.infer<typeof MetadataInput>

/** One observation of a controller, as in Kubernetes. */
export const Condition = z
  .object({
    type: z.string(),
    status: z.enum(['True', 'False', 'Unknown']),
    /** CamelCase and stable. */
    reason: z.string(),
    /** A sentence that a user can act on. */
    message: z.string(),
    /** When `status` last changed. */
    lastTransitionTime: Timestamp,
    observedGeneration: z.int().min(0).optional(),
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
      apiVersion: z.literal(apiVersion),
      kind: z.literal(kind),
      metadata: ObjectMeta,
      spec: shapes.spec,
      status: shapes.status.optional(),
    })
    .meta({ id: kind })
}
