// Cool-downs that vendors asked for, in SQL: one row per provider and model; current ones are also kept in memory.
import { type CallFailure, failures } from '../../contract/kinds/tasks/failures.ts'
import type { Clock } from '../../lib/clock.ts'
import { createStopwatches } from '../../lib/stopwatch.ts'
import type { CoolDown } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Database, Reader, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { createProviderListeners, matchProvider } from './provider-rows.ts'

type Row = ResourceKey & { model: string; until: number; reason: string; failure: string; asked: number }

/** Instead of a model: everything that the provider serves. */
const everyModel = ''
/** Callers choose model names, so a provider with this many models in a cool-down cools down as a whole. */
const maxModels = 100
/** Limits how long a cool-down set by another replica can go unnoticed. */
const freshMs = 2000

/** Two clocks of one machine differ by less, unless one of them was set: whole milliseconds alone part them by one. */
const driftMs = 1000

function toCoolDown({ model, until, reason, failure, asked }: Row): CoolDown {
  const name = decodeText(model)
  return {
    // PostgreSQL returns big integers as text.
    until: new Date(Number(until)),
    reason: decodeText(reason),
    failure: Object.hasOwn(failures, failure) ? (failure as CallFailure) : 'RateLimited',
    asked: Number(asked) === 1,
    ...(name === everyModel ? {} : { model: name }),
  }
}

function keyOf({ namespace, name }: ResourceKey): string {
  return `${namespace}\n${name}`
}

type Moments = {
  /** Up to which a cool-down has lasted, whatever the wall clock was set to since it was first seen. */
  momentOf(key: string, coolDown: CoolDown): number
  now: number
}

/** The one that ends last, by the wall clock as it is now; without a model, the whole provider's. */
function findLast(
  key: string,
  coolDowns: readonly CoolDown[],
  model: string | undefined,
  { momentOf, now }: Moments,
): CoolDown | undefined {
  let last: CoolDown | undefined
  for (const one of coolDowns) {
    const setBy = now - momentOf(key, one)
    const until = Math.abs(setBy) < driftMs ? one.until : new Date(one.until.getTime() + setBy)
    const isCurrent = until.getTime() > now && (model === undefined || one.model === undefined || one.model === model)
    if (isCurrent && (last === undefined || until > last.until)) last = { ...one, until }
  }
  return last
}

/** False when a later end is already set. */
async function write(tx: Tx, provider: ResourceKey, coolDown: CoolDown, now: number): Promise<boolean> {
  await tx.run(sql`delete from cool_downs where until <= ${now}`)
  const count = await tx.first(sql<{ count: number }>`select count(*) as count from cool_downs
    where ${matchProvider(provider)}`)
  const model = Number(count?.count ?? 0) >= maxModels ? everyModel : (coolDown.model ?? everyModel)
  const { changes } = await tx.run(sql`insert into cool_downs (namespace, name, model, until, reason, failure, asked)
    values (${encodeText(provider.namespace)}, ${encodeText(provider.name)}, ${encodeText(model)},
      ${coolDown.until.getTime()}, ${encodeText(coolDown.reason)}, ${coolDown.failure}, ${coolDown.asked ? 1 : 0})
    on conflict (namespace, name, model) do update
      set until = excluded.until, reason = excluded.reason, failure = excluded.failure, asked = excluded.asked
      where cool_downs.until < excluded.until`)
  return changes > 0
}

function readAll(reader: Reader, now: number): Promise<Row[]> {
  return reader.all(sql<Row>`select namespace, name, model, until, reason, failure, asked from cool_downs
    where until > ${now}`)
}

/** What this process set itself. Reads that started before it was written do not contain it. */
type OwnNote = {
  key: string
  coolDown: CoolDown
  /** The first read that contains it; undefined until it is written. */
  seenBy: number | undefined
}

export function createCoolDowns({ database, clock }: { database: Database; clock: Clock }) {
  const watches = createStopwatches(clock)
  const readMoments = (): Moments => ({
    momentOf: (key, { model, until }) => watches.momentSince(`${key}\n${model ?? ''}\n${until.getTime()}`).getTime(),
    now: clock.now().getTime(),
  })
  let known = new Map<string, CoolDown[]>()
  const own = new Set<OwnNote>()
  let readAt = Number.NEGATIVE_INFINITY
  let reads = 0
  let isReading = false
  let isStale = false
  // A failed read means that the database is temporarily unavailable.
  const listeners = createProviderListeners(database, 'cool-downs', () => void notifyAll().catch(() => undefined))
  listeners.add(() => {
    readAt = Number.NEGATIVE_INFINITY
    refresh()
  })

  /** Including those that this read was too early for. */
  function addOwn(found: Map<string, CoolDown[]>, read: number): Map<string, CoolDown[]> {
    for (const note of own) {
      if (note.seenBy !== undefined && note.seenBy <= read) own.delete(note)
      else found.set(note.key, [...(found.get(note.key) ?? []), note.coolDown])
    }
    return found
  }

  async function load(): Promise<Row[]> {
    const now = clock.now().getTime()
    reads += 1
    const read = reads
    const rows = await readAll(database.read, now)
    const found = new Map<string, CoolDown[]>()
    for (const row of rows) {
      const key = keyOf({ namespace: decodeText(row.namespace), name: decodeText(row.name) })
      found.set(key, [...(found.get(key) ?? []), toCoolDown(row)])
    }
    known = addOwn(found, read)
    readAt = now
    return rows
  }

  /** In the background; one at a time, and once more for what arrived while it ran. */
  function refresh(): void {
    isStale = isReading
    if (isReading) return
    isReading = true
    load()
      .catch(() => undefined)
      .finally(() => {
        isReading = false
        if (isStale) refresh()
      })
  }

  async function notifyAll(): Promise<void> {
    for (const { namespace, name } of await load()) {
      listeners.notify({ namespace: decodeText(namespace), name: decodeText(name) })
    }
  }

  return {
    async coolDown(provider: ResourceKey, coolDown: CoolDown): Promise<void> {
      const key = keyOf(provider)
      // The next caller in this process sees it already.
      known.set(key, [...(known.get(key) ?? []), coolDown])
      readMoments().momentOf(key, coolDown)
      const note: OwnNote = { key, coolDown, seenBy: undefined }
      own.add(note)
      try {
        await database.write(async (tx) => {
          if (await write(tx, provider, coolDown, clock.now().getTime())) listeners.announce(tx, provider)
        })
      } finally {
        note.seenBy = reads + 1
      }
    },

    async coolingDown(provider: ResourceKey, model?: string): Promise<CoolDown | undefined> {
      const rows = await database.read.all(sql<Row>`select namespace, name, model, until, reason, failure, asked
        from cool_downs where ${matchProvider(provider)}`)
      return findLast(keyOf(provider), rows.map(toCoolDown), model, readMoments())
    },

    peekCoolDown(provider: ResourceKey, model: string): CoolDown | undefined {
      const now = clock.now().getTime()
      if (Math.abs(now - readAt) > freshMs) refresh()
      if (known.size === 0) return undefined
      const key = keyOf(provider)
      const coolDowns = known.get(key)
      return coolDowns && findLast(key, coolDowns, model, readMoments())
    },

    onCoolDown: listeners.add,
  }
}
