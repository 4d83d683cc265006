// How calls of providers went, in SQL: one row per provider, locked while an observation is merged into it.
import { SvcError } from '../../errors.ts'
import type { ProviderContact, ProviderHealth, ProviderNote } from '../../ports/providers/provider-state.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Database, Tx } from '../database/database.ts'
import { sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import { createProviderListeners, matchProvider, type ProviderListeners } from './provider-rows.ts'

type HealthRow = { good_at: number | null; failed_at: number | null; reason: string | null; failures: number }

// PostgreSQL returns big integers as text.
function toContact(row: HealthRow): ProviderContact {
  const { good_at: good, failed_at: failed, reason } = row
  return {
    ...(good === null ? {} : { goodAt: new Date(Number(good)) }),
    ...(failed === null ? {} : { failed: { at: new Date(Number(failed)), reason: decodeText(reason ?? '') } }),
    failures: Number(row.failures),
  }
}

async function lockContact(tx: Tx, { namespace, name }: ResourceKey): Promise<ProviderContact> {
  const row = await tx.first(sql<HealthRow>`insert into provider_health (namespace, name, failures)
    values (${encodeText(namespace)}, ${encodeText(name)}, 0)
    on conflict (namespace, name) do update set namespace = excluded.namespace returning *`)
  if (row === undefined) throw new SvcError('Internal', 'the health of the provider was not stored')
  return toContact(row)
}

async function writeContact(tx: Tx, provider: ResourceKey, { goodAt, failed, failures }: ProviderContact) {
  await tx.run(sql`update provider_health set good_at = ${goodAt?.getTime() ?? null},
      failed_at = ${failed?.at.getTime() ?? null}, reason = ${failed === undefined ? null : encodeText(failed.reason)},
      failures = ${failures}
    where ${matchProvider(provider)}`)
}

function isAfter(a: Date | undefined, b: Date | undefined): boolean {
  return a !== undefined && (b === undefined || a > b)
}

/** Failures before the newest good call no longer count. */
function countFailures(known: ProviderContact, note: ProviderContact): number {
  if (isAfter(note.goodAt, known.goodAt)) {
    return note.failures + (isAfter(known.failed?.at, note.goodAt) ? known.failures : 0)
  }
  return known.failures + (isAfter(note.failed?.at, known.goodAt) ? note.failures : 0)
}

function merge(known: ProviderContact, note: ProviderContact): ProviderContact {
  const goodAt = isAfter(note.goodAt, known.goodAt) ? note.goodAt : known.goodAt
  const failed = isAfter(note.failed?.at, known.failed?.at) ? note.failed : known.failed
  return { goodAt, failed, failures: countFailures(known, note) }
}

function stateOf({ goodAt, failures }: ProviderContact): 'failing' | 'good' | 'unknown' {
  if (failures > 0) return 'failing'
  return goodAt === undefined ? 'unknown' : 'good'
}

async function addNote(tx: Tx, { provider, ...note }: ProviderNote, changes: ProviderListeners): Promise<void> {
  const known = await lockContact(tx, provider)
  const merged = merge(known, note)
  await writeContact(tx, provider, merged)
  if (stateOf(merged) !== stateOf(known)) changes.announce(tx, provider)
}

/** In the same order on every replica, so that units cannot deadlock. */
function sortNotes(notes: readonly ProviderNote[]): ProviderNote[] {
  const spell = ({ provider }: ProviderNote) => `${provider.namespace}/${provider.name}`
  return notes.toSorted((a, b) => Number(spell(a) > spell(b)) - Number(spell(a) < spell(b)))
}

export function createProviderHealth({ database }: { database: Database }): ProviderHealth {
  // Listeners find missed changes with their periodic checks.
  const changes = createProviderListeners(database, 'provider-health')
  return {
    async note(notes) {
      if (notes.length === 0) return
      await database.write(async (tx) => {
        for (const note of sortNotes(notes)) await addNote(tx, note, changes)
      })
    },

    async read(provider) {
      const row = await database.read.first(sql<HealthRow>`select good_at, failed_at, reason, failures
        from provider_health where ${matchProvider(provider)}`)
      return row && toContact(row)
    },

    onChange: changes.add,

    async sweep(before) {
      const swept = await database.write((tx) =>
        tx.run(sql`delete from provider_health
          where coalesce(good_at, 0) < ${before.getTime()} and coalesce(failed_at, 0) < ${before.getTime()}`),
      )
      return swept.changes
    },
  }
}
