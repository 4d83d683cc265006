// The embedded resource store: objects in SQL with the semantics of the Kubernetes API, changes remembered in memory.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type {
  DeletePreconditions,
  ResourceDraft,
  ResourceKey,
  ResourceQuery,
  Resources,
} from '../../ports/resources/resources.ts'
import { checkFields } from '../../rules/resources/fields.ts'
import type { Database, Tx } from '../database/database.ts'
import { type ChangeRing, createChangeRing, type RingLimits } from '../watching/change-ring.ts'
import { describeMissing, type StoredObject, stringifyJson } from '../watching/stored-object.ts'
import { createTextWatch } from '../watching/text-watch.ts'
import { createWatches } from '../watching/watches.ts'
import { createResourceCounts } from './counts.ts'
import { createMutations, type Mutations } from './mutations.ts'
import { createOwnerBacklog, createOwnerCollector } from './owner-collector.ts'
import { createPages } from './pages.ts'
import { countValues, readCounter, readCounts, readRow, readText, type TextRow } from './rows.ts'
import { parseObject, type StoredRow } from './stored-row.ts'
import { createTaskTallies } from './task-tallies.ts'
import { applyStatus, applyUpdate, checkPreconditions, isGone, makeObject, markDeleted } from './transitions.ts'

export type ResourceStoreOptions = {
  clock: Clock
  ids: Ids
  /** How many changes are remembered for watches and snapshots. */
  ring?: RingLimits
  /** Called with errors of background work, which is retried. */
  reportFault?: (error: unknown) => void
}

export interface ResourceStore extends Resources {
  /** Ends watches and background work. The database stays open. */
  close(): Promise<void>
}

async function requireRow(tx: Tx, kind: Kind, key: ResourceKey): Promise<StoredRow> {
  const row = await readRow(tx, kind, key)
  if (row === undefined) throw describeMissing(kind, key)
  return row
}

/** The caller's object as it would be stored: without undefined values or shared parts. */
function normalize(object: { metadata: unknown; spec: unknown; status?: unknown }): StoredObject {
  return JSON.parse(stringifyJson(object))
}

function createWriter(database: Database, mutations: Mutations, { clock, ids }: ResourceStoreOptions) {
  async function write<K extends Kind>(kind: K, work: (tx: Tx) => Promise<StoredRow>): Promise<ResourceOf<K>> {
    const row = await database.write(work)
    return parseObject(kind, row.text)
  }

  async function change<K extends Kind>(
    kind: K,
    object: ResourceOf<K>,
    apply: (current: StoredObject, incoming: StoredObject) => StoredObject,
  ): Promise<ResourceOf<K>> {
    const incoming = normalize(object)
    return write(kind, async (tx) => {
      const row = await requireRow(tx, kind, incoming.metadata)
      checkPreconditions(row.object, incoming.metadata)
      const next = apply(row.object, incoming)
      return isGone(next) ? mutations.erase(tx, row, next) : mutations.replace(tx, row, next)
    })
  }

  return {
    create<K extends Kind>(kind: K, draft: ResourceDraft<K>): Promise<ResourceOf<K>> {
      const object = makeObject(kind, draft, { uid: ids.next(), now: clock.now() })
      return write(kind, (tx) => mutations.insert(tx, object))
    },
    update: <K extends Kind>(kind: K, object: ResourceOf<K>) => change(kind, object, applyUpdate),
    updateStatus: <K extends Kind>(kind: K, object: ResourceOf<K>) => change(kind, object, applyStatus),
    remove: <K extends Kind>(kind: K, key: ResourceKey, preconditions: DeletePreconditions = {}) =>
      write(kind, async (tx) => {
        const row = await requireRow(tx, kind, key)
        checkPreconditions(row.object, preconditions)
        const marked = markDeleted(row.object, clock.now())
        return isGone(marked) ? mutations.erase(tx, row, row.object) : mutations.replace(tx, row, marked)
      }),
  }
}

/** Reads one object, from memory if its last change is remembered: each is published when it is committed. */
function createTextReader(database: Database, ring: ChangeRing) {
  return async (kind: Kind, key: ResourceKey): Promise<TextRow | undefined> => {
    const change = ring.findLast(kind, key)
    if (change === undefined) return readText(database.read, kind, key)
    return change.type === 'DELETED' ? undefined : { text: change.object, version: change.version }
  }
}

/** Opens the store over a migrated database. One store per database: it does not see changes made by anything else. */
export async function createResources(database: Database, options: ResourceStoreOptions): Promise<ResourceStore> {
  let version = await readCounter(database.read)
  const ring = createChangeRing(version, options.ring)
  const counts = createResourceCounts(await readCounts(database.read))
  const tallies = createTaskTallies(database.read)
  const backlog = createOwnerBacklog()
  const mutations = createMutations({
    nextVersion: () => ++version,
    publish: (change, states) => {
      counts.apply(change)
      tallies.apply(states)
      ring.publish(change)
    },
    owners: backlog,
  })
  const collector = createOwnerCollector({
    database,
    mutations,
    clock: options.clock,
    queue: backlog,
    reportFault: options.reportFault ?? (() => undefined),
  })
  const writer = createWriter(database, mutations, options)
  const { list, listText } = createPages({ database, ring, counts })
  const read = createTextReader(database, ring)
  await collector.start()
  return {
    get: async (kind, key) => {
      const row = await read(kind, key)
      return row && parseObject(kind, row.text)
    },
    getText: async (kind, key) => {
      const row = await read(kind, key)
      return row && { text: row.text, resourceVersion: String(row.version) }
    },
    list,
    listText,
    namespacesOf: async (kind) => counts.namespaces(kind),
    countBy: async (kind, field) => {
      checkFields(kind, { [field]: '' })
      return countValues(database.read, kind, field)
    },
    tallyTasks: tallies.tallyTasks,
    watch: createWatches({ ring, list }),
    watchText: (watchOptions) => {
      const source = (kind: Kind) => ({
        kind,
        ring,
        listText: (query: ResourceQuery) => listText(kind, query),
        settle: async () => undefined,
      })
      return createTextWatch(watchOptions.kinds.map(source), watchOptions)
    },
    create: writer.create,
    update: writer.update,
    updateStatus: writer.updateStatus,
    remove: writer.remove,
    close: async () => {
      ring.close()
      await collector.close()
    },
  }
}
