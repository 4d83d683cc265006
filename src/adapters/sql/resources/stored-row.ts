// A resource as text in a row, and the rows of the index that it is looked up by.
import type { Kind, ResourceOf } from '../../../contract/resources/index.ts'
import { type IndexEntry, listIndexEntries, type StoredObject } from '../../resource-store/stored-object.ts'
import { encodeText } from '../stored-text.ts'

/** An object with the JSON it is stored as. */
export type StoredRow = { object: StoredObject; text: string }

/** A fresh object of the caller's own: every read parses, so that nobody shares one. */
export function parseObject<K extends Kind>(_kind: K, text: string): ResourceOf<K> {
  return JSON.parse(text)
}

export function parseRow(text: string): StoredRow {
  return { object: JSON.parse(text), text }
}

/** Field of the uids that own an object. */
export const ownerField = 'owner'

/** As they stand in the index; the owners are there for the removal of what they own. */
export function listIndexRows(object: StoredObject): IndexEntry[] {
  const owners = new Set((object.metadata.ownerReferences ?? []).map((owner) => owner.uid))
  const listed = listIndexEntries(object).filter(({ field }) => field !== ownerField)
  const entries = [...listed, ...[...owners].map((uid) => ({ field: ownerField, value: uid }))]
  return entries.map(({ field, value }) => ({ field, value: encodeText(value) }))
}
