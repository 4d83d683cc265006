// What the cache keeps of an object: its JSON as callers receive it, and its index values.
import type { Kind } from '../../contract/kinds/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { formatCreated } from '../../store/watching/list-order.ts'
import {
  type IndexEntry,
  listIndexEntries,
  listTallies,
  type StoredObject,
} from '../../store/watching/stored-object.ts'
import type { ApiObject } from '../reflector.ts'

/** Position in the order of lists: by namespace, then by name, bytewise. */
export type CacheKey = string

export type CacheEntry = ResourceKey & {
  key: CacheKey
  /** Position in creation order. */
  created: string
  uid: string
  version: number
  text: string
  /** `field` NUL `value` of each field and label. */
  values: string[]
  /** What it is counted as. */
  tallies: IndexEntry[]
  labels: Record<string, string> | undefined
  /** Whether the server has the annotation of `kubectl apply`, which the text leaves out. */
  isApplied: boolean
  /** Whether only the server's own clean-up keeps it. */
  isGone: boolean
}

/** Annotation in which `kubectl apply` stores the whole object a second time. */
export const appliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

/** NUL sorts before every character of a name, so that keys compare as (namespace, name). */
export function formatCacheKey({ namespace, name }: ResourceKey): CacheKey {
  return `${namespace}\0${name}`
}

/** Sorts like the creation time; the key follows the first NUL. */
export function formatMark({ created, key }: Pick<CacheEntry, 'created' | 'key'>): string {
  return `${created}\0${key}`
}

export function formatValue(field: string, value: string): string {
  return `${field}\0${value}`
}

function isFilled(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

/** What users and controllers see: without the server's book-keeping, which is half of an object. */
function trimMetadata(metadata: Record<string, unknown>): Record<string, unknown> {
  const { managedFields: _fields, selfLink: _link, deletionGracePeriodSeconds: _grace, ...relevant } = metadata
  const { [appliedAnnotation]: _applied, ...annotations } = (metadata.annotations ?? {}) as Record<string, string>
  const { annotations: _all, ...rest } = relevant
  return isFilled(annotations) ? { ...rest, annotations } : rest
}

function toEntry(object: StoredObject, isApplied: boolean, text = JSON.stringify(object)): CacheEntry {
  const { namespace, name, uid, resourceVersion, labels, deletionTimestamp, finalizers = [] } = object.metadata
  return {
    namespace,
    name,
    key: formatCacheKey(object.metadata),
    created: formatCreated(object),
    uid,
    version: Number(resourceVersion),
    text,
    values: listIndexEntries(object).map(({ field, value }) => formatValue(field, value)),
    tallies: listTallies(object),
    labels,
    isApplied,
    isGone: deletionTimestamp !== undefined && finalizers.length === 0,
  }
}

/** An object from an answer as an entry. */
export function makeEntry(kind: Kind, answer: ApiObject): CacheEntry {
  const { apiVersion, kind: _kind, metadata, spec, status } = answer
  const annotations = metadata.annotations as Record<string, string> | undefined
  const object = { apiVersion, kind, metadata: trimMetadata(metadata), spec, ...(status !== undefined && { status }) }
  return toEntry(object as unknown as StoredObject, annotations?.[appliedAnnotation] !== undefined)
}

/** The entry of a text that was cached before. */
export function parseEntry(text: string): CacheEntry {
  return toEntry(JSON.parse(text), false, text)
}
