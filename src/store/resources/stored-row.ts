// A resource as text in a row, and its rows in the index.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { encodeText } from '../database/stored-text.ts'
import { type IndexEntry, listIndexEntries, listMoments, type StoredObject } from '../watching/stored-object.ts'

/** An object with its stored JSON. */
export type StoredRow = { object: StoredObject; text: string }

/** A separate object for the caller: every read parses, so that nobody shares one. */
export function parseObject<K extends Kind>(_kind: K, text: string): ResourceOf<K> {
  return JSON.parse(text)
}

export function parseRow(text: string): StoredRow {
  return { object: JSON.parse(text), text }
}

/** Field of the uids that own an object. */
export const ownerField = 'owner'

/** The values in the index; owners are included for removing what they own, moments for counting. */
export function listIndexRows(object: StoredObject): IndexEntry[] {
  const owners = new Set((object.metadata.ownerReferences ?? []).map((owner) => owner.uid))
  const listed = listIndexEntries(object).filter(({ field }) => field !== ownerField)
  const entries = [...listed, ...listMoments(object), ...[...owners].map((uid) => ({ field: ownerField, value: uid }))]
  return entries.map(({ field, value }) => ({ field, value: encodeText(value) }))
}
