// Every change of an object goes through one of these three: rows, index, version and the event of the watch together.
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Tx } from '../database/database.ts'
import type { Change } from '../watching/change-ring.ts'
import { formatCreated } from '../watching/list-order.ts'
import { describeTaken, type StoredObject, stringifyObject } from '../watching/stored-object.ts'
import { noteAbsentOwners, noteDependants, type OwnerQueue } from './owners.ts'
import { deleteRow, insertRow, replaceRow, saveCounter } from './rows.ts'
import type { StoredRow } from './stored-row.ts'
import type { States } from './task-tallies.ts'
import { isUnchanged } from './transitions.ts'

export type MutationParts = {
  /** The next resourceVersion; failed writes leave gaps. */
  nextVersion(): number
  publish(change: Change, states: States): void
  owners: OwnerQueue
}

export type Mutations = {
  /** AlreadyExists; TooLarge. */
  insert(tx: Tx, object: StoredObject): Promise<StoredRow>
  /** The current row when nothing changes. TooLarge. */
  replace(tx: Tx, current: StoredRow, next: StoredObject): Promise<StoredRow>
  /** Returns `last`, the state the object is removed in, with the version of its removal. */
  erase(tx: Tx, current: StoredRow, last: StoredObject): Promise<StoredRow>
}

export function createMutations({ nextVersion, publish, owners }: MutationParts): Mutations {
  function makeRow(object: StoredObject): StoredRow & { version: number } {
    const version = nextVersion()
    const stamped = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } }
    return { object: stamped, text: stringifyObject(stamped), version }
  }

  async function announce(tx: Tx, row: StoredRow & { version: number }, type: Change['type'], before?: StoredRow) {
    const { kind, metadata } = row.object
    const { namespace, name }: ResourceKey = metadata
    const created = formatCreated(row.object)
    await saveCounter(tx, row.version)
    const change = { type, version: row.version, kind, namespace, name, created, object: row.text }
    const states = type === 'DELETED' ? {} : { after: row.object }
    tx.afterCommit(() => {
      if (before === undefined) publish(change, states)
      else publish({ ...change, before: before.text }, { ...states, before: before.object })
    })
  }

  return {
    async insert(tx, object) {
      const row = makeRow(object)
      if (!(await insertRow(tx, row))) throw describeTaken(object.kind, object.metadata)
      await noteAbsentOwners(tx, owners, row.object)
      await announce(tx, row, 'ADDED')
      return row
    },
    async replace(tx, current, next) {
      if (isUnchanged(current.object, next)) return current
      const row = makeRow(next)
      await replaceRow(tx, current.object, row)
      await noteAbsentOwners(tx, owners, row.object, current.object)
      await announce(tx, row, 'MODIFIED', current)
      return row
    },
    async erase(tx, current, last) {
      const row = makeRow(last)
      await deleteRow(tx, current.object)
      await noteDependants(tx, owners, row.object)
      await announce(tx, row, 'DELETED', current)
      return row
    },
  }
}
