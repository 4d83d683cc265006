// Backups that somebody else made.
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyMigrated } from '../../test/fixtures/sqlite.ts'
import type { Config } from '../config/load.ts'
import { sql } from '../store/database/statement.ts'
import { openSqlite } from '../store/sqlite/database.ts'
import { requireEmpty, restoreBackup } from './backup.ts'

let folder: string
let source: string
let config: Config
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-backup-'))
  source = join(folder, 'source')
  mkdirSync(join(source, 'blobs'), { recursive: true })
  await copyMigrated(join(source, 'svc.db'))
  const note = { format: 1, version: '0.1.0', takenAt: '2030-01-01T00:00:00Z', bodies: 0, secrets: 0, hasKey: false }
  writeFileSync(join(source, 'backup.json'), JSON.stringify(note))
  config = { paths: { dataDir: join(folder, 'data'), secretKeyFile: join(folder, 'config', 'secret.key') } } as Config
})
afterEach(() => rmSync(folder, { recursive: true }))

const isRestored = () => existsSync(join(folder, 'data', 'svc.db'))

describe('a backup of somebody else', () => {
  it('is restored when it is one', async () => {
    await restoreBackup(config, source)
    expect(isRestored()).toBe(true)
  })

  it('cannot name a file of this machine as one of its bodies, which would be read and removed with its task', async () => {
    writeFileSync(join(folder, 'mine'), 'x')
    const id = '../../../mine'
    const database = openSqlite({ path: join(source, 'svc.db') })
    await database.write((tx) =>
      tx.run(sql`insert into results (task_uid, attempt, size, content_type, created_at, blob_id)
        values ('uid', 1, 1, 'text/plain', '2030-01-01T00:00:00Z', ${id})`),
    )
    await database.close()
    await expect(restoreBackup(config, source)).rejects.toThrow('names the body "../../../mine", as no service does')
    expect(isRestored()).toBe(false)
  })

  it.each(['svc.db', 'blobs', 'logs', 'backup.json'])('cannot have a link in place of its %s', async (name) => {
    const elsewhere = join(folder, 'elsewhere')
    if (existsSync(join(source, name))) renameSync(join(source, name), elsewhere)
    else mkdirSync(elsewhere)
    symlinkSync(elsewhere, join(source, name))
    await expect(restoreBackup(config, source)).rejects.toThrow(`${join(source, name)} is no f`)
    expect(isRestored()).toBe(false)
  })
})

it('a folder without a backup, and one that cannot be made, are said in plain words', async () => {
  const where = join(folder, 'none')
  const missing = `${where} holds no whole backup: backup.json: there is no such file or folder`
  await expect(restoreBackup(config, where)).rejects.toThrow(missing)
  await expect(requireEmpty('/dev/null/x', 'x')).rejects.toThrow(
    '/dev/null/x cannot be used: a part of the path is not',
  )
})

it('of two restores into one folder at once, one is done and the other is told so', async () => {
  const both = await Promise.allSettled([restoreBackup(config, source), restoreBackup(config, source)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const [refused] = both.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refused).toMatchObject({ reason: 'Conflict', message: expect.stringContaining(config.paths.dataDir) })
  expect(isRestored()).toBe(true)
})
