// The sealed secrets in SQL: ciphertext as bytes, one row per key.
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Database, Reader, Tx } from '../database/database.ts'
import { type Fragment, joinSql, sql } from '../database/statement.ts'
import { decodeText, encodeText } from '../database/stored-text.ts'
import type { SecretRow, SecretStorage } from './secret-storage.ts'

type MetadataRow = { namespace: string; name: string; type: string; annotations: string; created_at: string }
type EntryRow = { namespace: string; name: string; key: string; sealed: Uint8Array }

function matchKey(key: ResourceKey): Fragment {
  return sql`namespace = ${encodeText(key.namespace)} and name = ${encodeText(key.name)}`
}

function toSecret(row: MetadataRow, entries: EntryRow[]): SecretRow {
  return {
    namespace: decodeText(row.namespace),
    name: decodeText(row.name),
    type: decodeText(row.type),
    annotations: JSON.parse(row.annotations) as Record<string, string>,
    createdAt: row.created_at,
    entries: Object.fromEntries(entries.map((entry) => [decodeText(entry.key), Buffer.from(entry.sealed)])),
  }
}

/** One statement for both tables, so that a secret and its values are from the same moment. */
async function selectSecrets(reader: Reader, condition: Fragment): Promise<SecretRow[]> {
  const rows = await reader.all(sql<MetadataRow & { key: string | null; sealed: Uint8Array | null }>`
    select secrets.*, secret_entries.key, secret_entries.sealed from secrets left join secret_entries
      on secret_entries.namespace = secrets.namespace and secret_entries.name = secrets.name
    where ${condition} order by secrets.namespace, secrets.name, secret_entries.key`)
  const groups = Map.groupBy(rows, (row) => JSON.stringify([row.namespace, row.name]))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    const entries = group.flatMap(({ key, sealed, ...row }) =>
      key === null || sealed === null ? [] : { ...row, key, sealed },
    )
    return first === undefined ? [] : [toSecret(first, entries)]
  })
}

async function insertEntries(tx: Tx, key: ResourceKey, entries: Record<string, Buffer>): Promise<void> {
  for (const [name, sealed] of Object.entries(entries)) {
    await tx.run(sql`insert into secret_entries (namespace, name, key, sealed)
      values (${encodeText(key.namespace)}, ${encodeText(key.name)}, ${encodeText(name)}, ${sealed})`)
  }
}

async function insertSecret(tx: Tx, row: SecretRow): Promise<boolean> {
  const { changes } = await tx.run(sql`insert into secrets (namespace, name, type, annotations, created_at)
    values (${encodeText(row.namespace)}, ${encodeText(row.name)}, ${encodeText(row.type)},
      ${JSON.stringify(row.annotations)}, ${row.createdAt})
    on conflict (namespace, name) do nothing`)
  if (changes === 0) return false
  await insertEntries(tx, row, row.entries)
  return true
}

function isSame(one: Record<string, Buffer>, other: Record<string, Buffer>): boolean {
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return false
  return names.every((name) => Object.hasOwn(other, name) && one[name]?.equals(other[name] ?? Buffer.alloc(0)) === true)
}

function matchSecrets(namespace: string, name?: string): Fragment {
  const conditions = [sql`secrets.namespace = ${encodeText(namespace)}`]
  if (name !== undefined) conditions.push(sql`secrets.name = ${encodeText(name)}`)
  return joinSql(conditions, ' and ')
}

/** The secret, its row locked to the end of the transaction. */
async function lockSecret(tx: Tx, key: ResourceKey): Promise<SecretRow | undefined> {
  await tx.run(sql`update secrets set type = type where ${matchKey(key)}`)
  return (await selectSecrets(tx, matchSecrets(key.namespace, key.name)))[0]
}

export function createSecretStorage(deps: { database: Database }): SecretStorage {
  const { database } = deps
  return {
    async get(key) {
      return (await selectSecrets(database.read, matchSecrets(key.namespace, key.name)))[0]
    },

    list(namespace) {
      return selectSecrets(database.read, namespace === undefined ? sql`1 = 1` : matchSecrets(namespace))
    },

    insert: (row) => database.write((tx) => insertSecret(tx, row)),

    replaceAnnotations: async (key, annotations) => {
      const statement = sql`update secrets set annotations = ${JSON.stringify(annotations)} where ${matchKey(key)}`
      const { changes } = await database.write((tx) => tx.run(statement))
      return changes === 1
    },

    delete: (key) =>
      database.write(async (tx) => {
        await tx.run(sql`delete from secret_entries where ${matchKey(key)}`)
        const { changes } = await tx.run(sql`delete from secrets where ${matchKey(key)}`)
        return changes === 1
      }),

    replaceEntries: (key, before, after) =>
      database.write(async (tx) => {
        const present = await lockSecret(tx, key)
        if (present === undefined || !isSame(present.entries, before)) return false
        await tx.run(sql`delete from secret_entries where ${matchKey(key)}`)
        await insertEntries(tx, key, after)
        return true
      }),
  }
}
