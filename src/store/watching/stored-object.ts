// A resource as every store keeps it: bounded JSON, its index values, and the errors about it.
import type { Kind, Resource } from '../../contract/kinds/index.ts'
import { SvcError } from '../../errors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { readFields, readTallies } from '../../rules/resources/fields.ts'

export type StoredObject = Resource<unknown, unknown> & { kind: Kind }

/** HTTP-032: the same limit as in a cluster, where etcd sets it. */
const maxObjectBytes = 1_048_576

/** How messages name the object. */
export function describeKey(kind: Kind, key: ResourceKey): string {
  return `${kind} "${key.namespace}/${key.name}"`
}

export function describeMissing(kind: Kind, key: ResourceKey): SvcError {
  return new SvcError('NotFound', `${describeKey(kind, key)} does not exist`)
}

export function describeTaken(kind: Kind, key: ResourceKey): SvcError {
  return new SvcError('AlreadyExists', `${describeKey(kind, key)} exists already: choose another name or update it`)
}

/** JSON of a caller's object. InvalidRequest when its nesting exceeds the engine's stack (some thousand levels). */
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

/** A value that the object can be found by. */
export type IndexEntry = { field: string; value: string }

export function labelField(key: string): string {
  return `label:${key}`
}

function toEntries(values: Record<string, string>): IndexEntry[] {
  return Object.entries(values).map(([field, value]) => ({ field, value }))
}

/** What the object is counted as beside its fields. */
export function listMoments(object: StoredObject): IndexEntry[] {
  return toEntries(readTallies(object.kind, object))
}

/** Everything that a task is counted as; nothing for other kinds. */
export function listTallies(object: StoredObject): IndexEntry[] {
  if (object.kind !== 'Task') return []
  const { phase = '' } = readFields(object.kind, object)
  return [{ field: 'phase', value: phase }, ...listMoments(object)]
}

/** What lists filter by: the kind's indexed fields, and the labels. */
export function listIndexEntries(object: StoredObject): IndexEntry[] {
  return [
    ...toEntries(readFields(object.kind, object)),
    ...Object.entries(object.metadata.labels ?? {}).map(([key, value]) => ({ field: labelField(key), value })),
  ]
}
