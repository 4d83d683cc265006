// A SQLite database as the last version before the first release left it has the schema of a new one, and is taken over as
// it is. The same for PostgreSQL: test/environments/postgres/postgres-database.test.ts.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/database.ts'

const archive = join(import.meta.dirname, '..', 'fixtures', 'stored-data', 'sqlite.tar.gz')
const folder = mkdtempSync(join(tmpdir(), 'svc-prerelease-'))
afterAll(() => rmSync(folder, { recursive: true }))

function query<T>(path: string, work: (database: Sqlite.Database) => T): T {
  const database = new Sqlite(path)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Splits at the commas that no bracket encloses. */
function splitParts(text: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of text) {
    depth += Number(character === '(') - Number(character === ')')
    if (character === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.map((part) => part.trim())
}

const isConstraint = (part: string) => /^(primary key|unique|foreign key|check)\b/.test(part)

/** The statement in one form: a column that was added later stands after the constraints of its table. */
function normalize(statement: string): string {
  const text = statement.toLowerCase().replaceAll(/\s+/g, ' ')
  const [open, close] = [text.indexOf('('), text.lastIndexOf(')')]
  if (!text.startsWith('create table')) return text
  const parts = splitParts(text.slice(open + 1, close))
  const sorted = [...parts.filter((part) => !isConstraint(part)), ...parts.filter(isConstraint)]
  return `${text.slice(0, open).trim()} (${sorted.join(', ')})${text.slice(close + 1).trim()}`
}

const readSchema = (path: string) =>
  query(path, (database) => {
    const rows = database.prepare('select type, name, sql from sqlite_master order by type, name').all()
    return (rows as { type: string; name: string; sql: string | null }[]).map(({ type, name, sql }) =>
      [type, name, sql && normalize(sql)].join(' '),
    )
  })

/** Every row of every table but that of the migrations. */
const readRows = (path: string) =>
  query(path, (database) => {
    const tables = database
      .prepare("select name from sqlite_master where type = 'table' and name <> 'migrations'")
      .all()
    return (tables as { name: string }[]).map(({ name }): [string, unknown[]] => [
      name,
      database.prepare(`select * from '${name}'`).all(),
    ])
  })

/** A table as step 3 leaves it: no spaces that were learnt from memories, and nothing counted for them. */
function withoutSpaces([name, rows]: [string, unknown[]]): [string, unknown[]][] {
  if (name === 'memory_spaces') return []
  if (name !== 'memory_models') return [[name, rows]]
  return [
    [name, rows.map((row) => Object.fromEntries(Object.entries(row as object).filter(([key]) => key !== 'memories')))],
  ]
}

type IndexRow = { field: string; value: string; name: string }

const isByEnd = (row: unknown) => (row as IndexRow).field === 'endedBy'

/** The index as it was before step 9, which counts tasks that have ended by the day and their agent. */
function withoutEnds([name, rows]: [string, unknown[]]): [string, unknown[]] {
  return [name, name === 'resource_index' ? rows.filter((row) => !isByEnd(row)) : rows]
}

/** Approvals as they were before step 10: no answer went only so far. */
function withoutScopes([name, rows]: [string, unknown[]]): [string, unknown[]] {
  if (name !== 'approvals') return [name, rows]
  return [name, rows.map((row) => Object.fromEntries(Object.entries(row as object).filter(([key]) => key !== 'scope')))]
}

const readSteps = (path: string) =>
  query(path, (database) => database.prepare('select number, name from migrations order by number').all())

describe('a SQLite database of before the first release', () => {
  const path = join(folder, 'share', 'svc', 'svc.db')
  beforeEach(() => {
    rmSync(join(folder, 'share'), { recursive: true, force: true })
    execFileSync('tar', ['-xzf', archive, '-C', folder])
  })

  it('has the schema of a new one, and is taken over with its rows as they are [PLAT-004]', async () => {
    const rows = readRows(path)
    expect(rows.filter((table) => table[1].length === 0).map(([name]) => name)).toEqual([
      'absent_owners',
      'session_appends',
      'config_maps',
      'usage_refused',
      'memory_spaces',
    ])
    expect(readSteps(path)).toHaveLength(35)
    await openSqlite({ path }).close()
    expect(readSteps(path)).toEqual([
      { number: 1, name: 'first release' },
      { number: 2, name: 'stored responses' },
      { number: 3, name: 'memories by origin' },
      { number: 4, name: 'makers of stored responses' },
      { number: 5, name: 'tasks by session' },
      { number: 6, name: 'attributes of usage' },
      { number: 7, name: 'alerts' },
      { number: 8, name: 'steps of attempts' },
      { number: 9, name: 'tasks by their end' },
      { number: 10, name: 'network of attempts' },
      { number: 11, name: 'pieces of logs by attempt and time' },
      { number: 12, name: 'participants of sessions' },
      { number: 13, name: 'versions of agents' },
    ])
    const added = [
      'stored_responses',
      'usage_attributes',
      'alerts',
      'step_counters',
      'steps',
      'network_hosts',
      'session_participants',
      'agent_versions',
    ]
    const after = readRows(path).filter(([name]) => !added.includes(name))
    expect(after.map(withoutEnds).map(withoutScopes)).toEqual(rows.flatMap(withoutSpaces))
    const index = (Object.fromEntries(after).resource_index ?? []) as IndexRow[]
    const tasksBy = (field: string) => index.filter((row) => row.field === field)
    expect(tasksBy('endedBy').map(({ name }) => name)).toEqual(tasksBy('ended').map(({ name }) => name))
    for (const { value } of tasksBy('endedBy'))
      expect(value).toMatch(/^\d{4}-\d\d-\d\d (Succeeded|Failed|Cancelled) \S* \S*$/)
    const fresh = join(folder, 'fresh.db')
    await openSqlite({ path: fresh }).close()
    expect(readSchema(path)).toEqual(readSchema(fresh))
    expect(readSteps(fresh)).toEqual(readSteps(path))
    await openSqlite({ path }).close()
  })

  it('is refused, and left as it is, where steps are missing', () => {
    query(path, (database) => database.exec('delete from migrations where number > 17'))
    expect(() => openSqlite({ path })).toThrow(
      'before the first release (schema step 17 of 35). Start the last version before the first release on it once, then',
    )
    expect(readSteps(path)).toHaveLength(17)
  })

  it('is refused where one of its steps was another', () => {
    query(path, (database) => database.exec("update migrations set checksum = 'x' where number = 20"))
    expect(() => openSqlite({ path })).toThrow('another schema step')
    expect(readSteps(path)).toHaveLength(35)
  })
})
