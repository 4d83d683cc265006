import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { waitFor } from '../../../test/fixtures/time.ts'
import { isSvcError } from '../../errors.ts'
import type { Tx } from '../database/database.ts'
import type { Migration } from '../database/migrations.ts'
import { sql } from '../database/statement.ts'
import { openSqlite, type SqliteDatabase } from './database.ts'

const notes: Migration = {
  number: 1,
  name: 'notes',
  statements: 'create table notes (id integer primary key, text text)',
}

let folder: string
let database: SqliteDatabase
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-sqlite-'))
  database = openSqlite({ path: join(folder, 'deep', 'svc.db'), migrations: [notes] })
})
afterEach(async () => {
  await database.close()
  rmSync(folder, { recursive: true })
})

const insert = (tx: Tx, text: string) => tx.run(sql`insert into notes (text) values (${text})`)
const readTexts = async () => {
  const rows = await database.read.all(sql<{ text: string }>`select text from notes order by id`)
  return rows.map((row) => row.text)
}
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (isSvcError(error) ? error.reason : `other: ${error}`),
  )

describe('a damaged file', () => {
  it('is reported by the health check as soon as a statement meets the damage', async () => {
    const path = join(folder, 'damaged.db')
    const first = openSqlite({ path, migrations: [notes] })
    for (let n = 0; n < 50; n++) await first.write((tx) => insert(tx, 'x'.repeat(4000)))
    await first.check()
    await first.close()
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0xff, 4 * 4096, 40 * 4096))
    const second = openSqlite({ path, migrations: [notes], restoreCommand: 'npx svc restore' })
    try {
      expect(await reasonOf(second.read.all(sql`select * from notes`))).toBe('Unavailable')
      await expect(second.check()).rejects.toThrow(`The database ${path} is damaged (SQLITE_CORRUPT`)
      await expect(second.check()).rejects.toThrow('`npx svc restore`')
    } finally {
      await second.close()
    }
  })

  it.each([
    ['at its beginning', 0, 100],
    ['in its schema', 100, 4096],
  ])('%s is not opened, and the refusal names it and says what to do', async (_, from, to) => {
    const path = join(folder, `damaged-${from}.db`)
    const first = openSqlite({ path, migrations: [notes] })
    await first.close()
    writeFileSync(path, readFileSync(path).fill(0xff, from, to))
    expect(() => openSqlite({ path, migrations: [notes] })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/database .*damaged-\d+\.db is damaged \(SQLITE_\w+\): .*`restore`/),
      }),
    )
  })
})

describe('a log that the service left behind', () => {
  const frameBytes = 24 + 4096

  /** As after a kill: what was committed last is in the log alone. */
  async function leaveLog(damage: (log: Buffer) => Buffer): Promise<string> {
    const place = mkdtempSync(join(folder, 'left-'))
    const path = join(place, 'left.db')
    const first = openSqlite({ path: join(place, 'first.db'), migrations: [notes] })
    for (let n = 0; n < 20; n++) await first.write((tx) => insert(tx, 'x'.repeat(4000)))
    for (const ending of ['', '-wal']) copyFileSync(join(place, `first.db${ending}`), path + ending)
    await first.close()
    const log = readFileSync(`${path}-wal`)
    expect((log.length - 32) % frameBytes).toBe(0)
    writeFileSync(`${path}-wal`, damage(log))
    return path
  }
  async function countTexts(path: string): Promise<number> {
    const second = openSqlite({ path, migrations: [notes] })
    const rows = await second.read.all(sql`select id from notes`)
    await second.close()
    return rows.length
  }

  it('is taken as it is', async () => {
    expect(await countTexts(await leaveLog((log) => log))).toBe(20)
  })

  it.each([
    ['in its header', 0, 32],
    ['in its salts', 16, 24],
    ['in its first frame', 32, 64],
    ['in a page', 32 + 6 * frameBytes + 500, 32 + 6 * frameBytes + 501],
    ['everywhere', 0, Number.POSITIVE_INFINITY],
  ])('and that is damaged %s forgets nothing in silence', async (_, from, to) => {
    const path = await leaveLog((log) => log.fill(0xee, from, Math.min(log.length, to)))
    expect(() => openSqlite({ path, migrations: [notes], restoreCommand: 'npx svc restore' })).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(
          /left\.db is damaged \(in its log .*left\.db-wal, at byte \d+\): .*`npx svc restore`/,
        ),
      }),
    )
  })

  it('and whose last commit came to the disk in parts, as after a loss of power, loses that alone', async () => {
    expect(
      await countTexts(await leaveLog((log) => log.fill(0, log.length - frameBytes - 100))),
    ).toBeGreaterThanOrEqual(18)
    expect(await countTexts(await leaveLog((log) => log.subarray(0, log.length - 5000)))).toBeGreaterThanOrEqual(18)
    expect(await countTexts(await leaveLog((log) => log.fill(0)))).toBe(0)
  })
})

describe('a file that goes away under the open database', () => {
  const file = () => join(folder, 'deep', 'svc.db')
  const write = (text: string) => database.write((tx) => insert(tx, text))
  const replace = () => {
    copyFileSync(file(), `${file()}.new`)
    renameSync(`${file()}.new`, file())
  }

  it.each([
    ['removed', () => rmSync(file())],
    ['replaced', replace],
    ['without its log', () => rmSync(`${file()}-wal`)],
  ])('%s: nothing more is acknowledged, and the health check says so', async (_, act) => {
    await write('before')
    await database.check()
    act()
    expect(await reasonOf(write('lost'))).toBe('Unavailable')
    await expect(write('lost')).rejects.toThrow('was removed or replaced: nothing is stored now; put it back')
    expect(await reasonOf(database.check())).toBe('Unavailable')
  })

  it('acknowledges no write whose file went before its commit', async () => {
    const lost = database.write(async (tx) => {
      await insert(tx, 'lost')
      rmSync(file())
    })
    expect(await reasonOf(lost)).toBe('Unavailable')
  })

  it('is used again once it is back', async () => {
    await write('before')
    renameSync(file(), `${file()}.away`)
    expect(await reasonOf(write('lost'))).toBe('Unavailable')
    renameSync(`${file()}.away`, file())
    await write('after')
    await database.check()
    expect(await readTexts()).toEqual(['before', 'after'])
  })
})

describe('the database files', () => {
  it('are readable by their owner alone, even in a public folder and when they were public before', async () => {
    const open = join(folder, 'open')
    mkdirSync(open, { mode: 0o755 })
    const path = join(open, 'svc.db')
    writeFileSync(path, '', { mode: 0o644 })
    const shared = openSqlite({ path, migrations: [notes] })
    await shared.write((tx) => insert(tx, 'x'))
    const modes = readdirSync(open).map((name) => statSync(join(open, name)).mode & 0o777)
    await shared.close()
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })
})

describe('write', () => {
  it('resolves with the value of the work, and reads see what it wrote', async () => {
    const changes = await database.write(async (tx) => {
      await insert(tx, 'a')
      const own = await tx.first(sql<{ count: number }>`select count(*) as count from notes`)
      return own?.count
    })
    expect(changes).toBe(1)
    expect(await readTexts()).toEqual(['a'])
  })

  it('rolls back work that throws, and commits the other writes of the same batch', async () => {
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((text) =>
        database.write(async (tx) => {
          await insert(tx, text)
          await insert(tx, `${text} again`)
          if (text === 'b') throw new Error('no')
          return text
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await readTexts()).toEqual(['a', 'a again', 'c', 'c again'])
  })

  it('hides uncommitted writes from readers', async () => {
    const seen: string[][] = []
    await database.write(async (tx) => {
      await insert(tx, 'a')
      seen.push(await readTexts())
    })
    expect(seen).toEqual([[]])
    expect(await readTexts()).toEqual(['a'])
  })

  it('publishes after the commit, in the order of the writes, before any of them resolves', async () => {
    const log: string[] = []
    const work = (text: string) =>
      database
        .write(async (tx) => {
          tx.afterCommit(() => log.push(`published ${text}`))
          await insert(tx, text)
          log.push(`wrote ${text}`)
          if (text === 'b') throw new Error('no')
        })
        .then(
          () => log.push(`resolved ${text}`),
          () => log.push(`rejected ${text}`),
        )
    await Promise.all([work('a'), work('b'), work('c')])
    expect(log).toEqual([
      'wrote a',
      'wrote b',
      'wrote c',
      'published a',
      'published c',
      'resolved a',
      'rejected b',
      'resolved c',
    ])
  })

  it('publishes only what is committed', async () => {
    let seen: Promise<string[]> | undefined
    await database.write(async (tx) => {
      await insert(tx, 'a')
      tx.afterCommit(() => {
        seen = readTexts()
      })
    })
    expect(await seen).toEqual(['a'])
  })

  it('commits more writers than fit into one batch, in order', async () => {
    const texts = Array.from({ length: 500 }, (_, index) => String(index))
    await Promise.all(texts.map((text) => database.write((tx) => insert(tx, text))))
    expect(await readTexts()).toEqual(texts)
  })

  it('rejects every writer of a commit that finds the disk full, and works again when there is room', async () => {
    await database.write((tx) => insert(tx, 'kept'))
    database.limitPages(1)
    const writers = Array.from({ length: 10 }, () => reasonOf(database.write((tx) => insert(tx, 'x'.repeat(50_000)))))
    expect(new Set(await Promise.all(writers))).toEqual(new Set(['StorageFull']))
    expect(await readTexts()).toEqual(['kept'])
    database.limitPages(1_000_000)
    await database.write((tx) => insert(tx, 'after'))
    expect(await readTexts()).toEqual(['kept', 'after'])
  })

  it('keeps a statement that fails from harming later ones', async () => {
    await expect(database.write((tx) => tx.run(sql`insert into missing values (1)`))).rejects.toThrow('missing')
    await database.write((tx) => insert(tx, 'after'))
    expect(await readTexts()).toEqual(['after'])
  })

  it('finishes the writes already asked for before it closes, and refuses later ones', async () => {
    const pending = database.write((tx) => insert(tx, 'last'))
    const closing = database.close()
    expect(await reasonOf(database.write((tx) => insert(tx, 'late')))).toBe('Unavailable')
    await Promise.all([pending, closing])
    database = openSqlite({ path: join(folder, 'deep', 'svc.db'), migrations: [notes] })
    expect(await readTexts()).toEqual(['last'])
  })

  it('runs many different statements without keeping all of them prepared', async () => {
    for (let count = 1; count < 700; count += 1) {
      const row = await database.read.first({ text: `select ${count} as count`, parameters: [] })
      expect(row).toEqual({ count })
    }
  })
})

describe('durability', () => {
  it('writes ahead, and syncs what it checkpoints', async () => {
    const mode = await database.read.first(sql`pragma journal_mode`)
    const level = await database.write((tx) => tx.first(sql`pragma synchronous`))
    expect(mode).toEqual({ journal_mode: 'wal' })
    expect(level).toEqual({ synchronous: 1 })
  })

  it('publishes with the commit, answers nothing before the log is synced, and meanwhile does everything else', async () => {
    const syncs: PromiseWithResolvers<void>[] = []
    const syncFile = () => {
      const sync = Promise.withResolvers<void>()
      syncs.push(sync)
      return sync.promise
    }
    const slow = openSqlite({ path: join(folder, 'slow.db'), migrations: [notes], syncFile })
    const told: string[] = []
    const write = (text: string) =>
      slow
        .write(async (tx) => {
          tx.afterCommit(() => void told.push(`published ${text}`))
          await insert(tx, text)
        })
        .then(() => void told.push(`answered ${text}`))
    const first = write('a')
    await waitFor(() => syncs.length === 1)
    const later = [write('b'), write('c')]
    expect(await slow.read.all(sql`select text from notes`)).toEqual([{ text: 'a' }])
    expect(told).toEqual(['published a'])
    syncs[0]?.resolve()
    await first
    expect(told).toEqual(['published a', 'answered a'])
    // Those who came meanwhile share the next one.
    await waitFor(() => syncs.length === 2)
    syncs[1]?.resolve()
    await Promise.all(later)
    expect([syncs.length, told.length]).toEqual([2, 6])
    await slow.close()
  })

  it('takes nothing more once a sync has failed, whatever later ones would say', async () => {
    let fails = false
    const syncFile = async () => {
      if (fails) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    }
    const path = join(folder, 'failing.db')
    const failing = openSqlite({ path, migrations: [notes], syncFile })
    await failing.write((tx) => insert(tx, 'a'))
    fails = true
    await expect(failing.write((tx) => insert(tx, 'b'))).rejects.toThrow(
      `The database ${path} could not be made durable`,
    )
    fails = false
    expect(await reasonOf(failing.write((tx) => insert(tx, 'c')))).toBe('Unavailable')
    await expect(failing.check()).rejects.toThrow('could not be made durable')
    await failing.close()
  })

  it('copies itself while in use', async () => {
    await database.write((tx) => insert(tx, 'a'))
    await database.backup(join(folder, 'copy.db'))
    await database.write((tx) => insert(tx, 'b'))
    const copy = openSqlite({ path: join(folder, 'copy.db'), migrations: [notes] })
    expect(await copy.read.all(sql`select text from notes`)).toEqual([{ text: 'a' }])
    await copy.close()
  })

  it('names the file that it cannot open', () => {
    expect(() => openSqlite({ path: folder })).toThrow(`The database ${folder} cannot be opened`)
  })
})
