// A resource as text in a row, and what it is looked up by.
import type { Kind, Resource, ResourceOf } from '../../../contract/resources/index.ts'
import { SvcError } from '../../../errors.ts'
import type { ResourceKey } from '../../../ports/resources.ts'
import { readFields } from '../../../rules/resource-fields.ts'
import { encodeText } from '../stored-text.ts'

export type StoredObject = Resource<unknown, unknown> & { kind: Kind }

/** An object with the JSON it is stored as. */
export type StoredRow = { object: StoredObject; text: string }

/** HTTP-032: the same limit as in a cluster, where etcd sets it. */
const maxObjectBytes = 1_048_576

/** A fresh object of the caller's own: every read parses, so that nobody shares one. */
export function parseObject<K extends Kind>(_kind: K, text: string): ResourceOf<K> {
  return JSON.parse(text)
}

export function parseRow(text: string): StoredRow {
  return { object: JSON.parse(text), text }
}

function describeKey(kind: Kind, key: ResourceKey): string {
  return `${kind} "${key.namespace}/${key.name}"`
}

export function describeMissing(kind: Kind, key: ResourceKey): SvcError {
  return new SvcError('NotFound', `${describeKey(kind, key)} does not exist`)
}

export function describeTaken(kind: Kind, key: ResourceKey): SvcError {
  return new SvcError('AlreadyExists', `${describeKey(kind, key)} exists already: choose another name or update it`)
}

/** JSON of what a caller gave. InvalidRequest when it is nested deeper than the engine's stack goes (some thousand). */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new SvcError('InvalidRequest', 'the object is nested too deeply: use fewer levels', { cause: error })
  }
}

/** The object's JSON. TooLarge beyond 1 MiB. */
export function stringifyObject(object: StoredObject): string {
  const text = stringifyJson(object)
  // A UTF-16 unit takes at most three bytes in UTF-8, so most texts need not be counted.
  if (text.length * 3 <= maxObjectBytes || Buffer.byteLength(text) <= maxObjectBytes) return text
  const name = describeKey(object.kind, object.metadata)
  throw new SvcError('TooLarge', `${name} is over 1 MiB: move large texts into artifacts, files or a repository`)
}

/** A value that an object is found by. */
export type IndexEntry = { field: string; value: string }

export function labelField(key: string): string {
  return `label:${key}`
}

/** Field of the uids that own an object. */
export const ownerField = 'owner'

export function listIndexEntries(object: StoredObject): IndexEntry[] {
  const { labels = {}, ownerReferences = [] } = object.metadata
  const owners = new Set(ownerReferences.map((owner) => owner.uid))
  return [
    ...Object.entries(readFields(object.kind, object)).map(([field, value]) => ({ field, value: encodeText(value) })),
    ...Object.entries(labels).map(([key, value]) => ({ field: labelField(key), value: encodeText(value) })),
    ...[...owners].map((uid) => ({ field: ownerField, value: encodeText(uid) })),
  ]
}
