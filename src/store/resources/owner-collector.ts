// Removes the dependants of absent owners, in small writes beside the requests, and resumes after a crash.
import { type Kind, kindNames } from '../../contract/kinds/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'
import type { Mutations } from './mutations.ts'
import { type AbsentOwner, hasOwner } from './owners.ts'
import { readRow } from './rows.ts'
import { ownerField, type StoredRow } from './stored-row.ts'
import { markDeleted } from './transitions.ts'

/** Dependants handled in one write. */
const batchSize = 50
/** Wait after a failed write (mostly a full disk). */
const retryMs = 2000

export type OwnerCollectorParts = {
  database: Database
  mutations: Mutations
  clock: Clock
  queue: OwnerBacklog
  /** Called with a failed write, which is retried. */
  reportFault(error: unknown): void
}

/** Owners waiting to be handled; adding one wakes the collector. */
export type OwnerBacklog = {
  add(owner: AbsentOwner): void
  take(): AbsentOwner | undefined
  onAdd(wake: () => void): void
}

export function createOwnerBacklog(): OwnerBacklog {
  const waiting = new Map<string, AbsentOwner>()
  let wake: (() => void) | undefined
  return {
    add(owner) {
      waiting.set(`${owner.namespace}/${owner.uid}`, owner)
      wake?.()
    },
    take() {
      const next = waiting.entries().next().value
      if (next === undefined) return undefined
      waiting.delete(next[0])
      return next[1]
    },
    onAdd(call) {
      wake = call
    },
  }
}

function listDependants(tx: Tx, owner: AbsentOwner, kind: Kind, after: string): Promise<{ name: string }[]> {
  return tx.all(
    sql<{ name: string }>`select name from resource_index
      where kind = ${kind} and field = ${ownerField} and value = ${owner.uid} and namespace = ${owner.namespace}
      and name > ${after} order by name limit ${batchSize}`,
  )
}

async function removeDependant(mutations: Mutations, tx: Tx, row: StoredRow, now: Date): Promise<void> {
  const isHeld = (row.object.metadata.finalizers ?? []).length > 0
  await (isHeld ? mutations.replace(tx, row, markDeleted(row.object, now)) : mutations.erase(tx, row, row.object))
}

/** Removes the object, or only the reference when another owner still exists. */
async function releaseDependant(parts: OwnerCollectorParts, tx: Tx, row: StoredRow, owner: AbsentOwner): Promise<void> {
  const { metadata } = row.object
  const others = []
  for (const reference of metadata.ownerReferences ?? []) {
    const isAbsent = encodeText(reference.uid) === owner.uid || !(await hasOwner(tx, metadata.namespace, reference))
    if (!isAbsent) others.push(reference)
  }
  if (others.length === 0) return removeDependant(parts.mutations, tx, row, parts.clock.now())
  await parts.mutations.replace(tx, row, { ...row.object, metadata: { ...metadata, ownerReferences: others } })
}

/** Handles one owner: its dependants kind by kind, then its entry, unless that was renewed meanwhile. */
function createCollection(parts: OwnerCollectorParts, stopped: AbortSignal): (owner: AbsentOwner) => Promise<void> {
  const { database } = parts

  /** Name of the last dependant handled; undefined when none of the kind is left. */
  function collectBatch(owner: AbsentOwner, kind: Kind, after: string): Promise<string | undefined> {
    return database.write(async (tx) => {
      const dependants = await listDependants(tx, owner, kind, after)
      for (const { name } of dependants) {
        const row = await readRow(tx, kind, { namespace: owner.namespace, name })
        if (row !== undefined) await releaseDependant(parts, tx, row, owner)
      }
      return dependants.length < batchSize ? undefined : dependants.at(-1)?.name
    })
  }

  async function collectKind(owner: AbsentOwner, kind: Kind): Promise<void> {
    let after: string | undefined = ''
    while (after !== undefined && !stopped.aborted) after = await collectBatch(owner, kind, after)
  }

  return async function collect(owner) {
    const { namespace, uid } = owner
    const note = await database.read.first(
      sql<{ version: number }>`select version from absent_owners where namespace = ${namespace} and uid = ${uid}`,
    )
    if (note === undefined) return
    for (const kind of kindNames) await collectKind(owner, kind)
    if (stopped.aborted) return
    await database.write((tx) =>
      tx.run(sql`delete from absent_owners
        where namespace = ${namespace} and uid = ${uid} and version = ${note.version}`),
    )
  }
}

export function createOwnerCollector(parts: OwnerCollectorParts): { start(): Promise<void>; close(): Promise<void> } {
  const { database, clock, queue } = parts
  const stopped = new AbortController()
  const collect = createCollection(parts, stopped.signal)
  let running: Promise<void> | undefined

  async function collectOrRetry(owner: AbsentOwner): Promise<void> {
    try {
      await collect(owner)
    } catch (error) {
      parts.reportFault(error)
      queue.add(owner)
      await clock.sleep(retryMs, stopped.signal).catch(() => undefined)
    }
  }

  async function drain(): Promise<void> {
    let owner = queue.take()
    while (owner !== undefined && !stopped.signal.aborted) {
      await collectOrRetry(owner)
      owner = queue.take()
    }
    running = undefined
  }

  function wake(): void {
    if (!stopped.signal.aborted) running ??= drain()
  }

  return {
    /** Resumes what was recorded before the last stop. */
    async start() {
      queue.onAdd(wake)
      const noted = await database.read.all(sql<AbsentOwner>`select namespace, uid from absent_owners`)
      for (const owner of noted) queue.add(owner)
    },
    async close() {
      stopped.abort()
      await running
    },
  }
}
