// Absent owners: recorded in the write that makes them absent, durable until their dependants have been handled.
import { isKind, kindNames, type ObjectMeta } from '../../contract/kinds/index.ts'
import type { OwnerReference } from '../../contract/kinds/resources/metadata.ts'
import type { Reader, Tx } from '../database/database.ts'
import { listSql, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import type { StoredObject } from '../watching/stored-object.ts'
import { readRow } from './rows.ts'
import { ownerField } from './stored-row.ts'

/** An owner that does not exist (any more), and the namespace of what it owned. */
export type AbsentOwner = { namespace: string; uid: string }

/** Called with absent owners after the commit that recorded them. */
export type OwnerQueue = { add(owner: AbsentOwner): void }

type OwnedMetadata = Pick<ObjectMeta, 'namespace' | 'ownerReferences' | 'resourceVersion'>

/**
 * Owners are looked up in the dependant's namespace. Owners of foreign kinds cannot be checked, so they count as
 * existing.
 */
export async function hasOwner(reader: Reader, namespace: string, owner: OwnerReference): Promise<boolean> {
  if (!isKind(owner.kind)) return true
  const row = await readRow(reader, owner.kind, { namespace, name: owner.name })
  return row?.object.metadata.uid === owner.uid
}

async function noteOwner(tx: Tx, queue: OwnerQueue, uid: string, metadata: OwnedMetadata): Promise<void> {
  const { namespace } = metadata
  // The version tells a running collection that more dependants were added after it started.
  const version = Number(metadata.resourceVersion)
  await tx.run(sql`insert into absent_owners (namespace, uid, version) values (${namespace}, ${uid}, ${version})
    on conflict (namespace, uid) do update set version = excluded.version`)
  tx.afterCommit(() => queue.add({ namespace, uid }))
}

/** Records the owners that an object newly names (not in `before`) and that do not exist. */
export async function noteAbsentOwners(
  tx: Tx,
  queue: OwnerQueue,
  object: StoredObject,
  before?: StoredObject,
): Promise<void> {
  const { namespace, ownerReferences = [] } = object.metadata
  const known = new Set(before?.metadata.ownerReferences?.map((owner) => owner.uid))
  for (const owner of ownerReferences) {
    if (known.has(owner.uid) || (await hasOwner(tx, namespace, owner))) continue
    await noteOwner(tx, queue, encodeText(owner.uid), object.metadata)
  }
}

/** Records an object that was just removed, if it owned anything. */
export async function noteDependants(tx: Tx, queue: OwnerQueue, object: StoredObject): Promise<void> {
  const { namespace, uid } = object.metadata
  const dependant = await tx.first(sql`select name from resource_index
    where kind in (${listSql(kindNames)}) and field = ${ownerField} and value = ${uid} and namespace = ${namespace}
    limit 1`)
  if (dependant !== undefined) await noteOwner(tx, queue, uid, object.metadata)
}
