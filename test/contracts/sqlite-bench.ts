// The bench of the record suites over SQLite and a folder.
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Ids } from '../../src/lib/clock.ts'
import type { Database } from '../../src/store/database/database.ts'
import { createSignInLinks } from '../../src/store/identity/sign-in-links.ts'
import { createTokenAuthenticator } from '../../src/store/identity/token-authenticator.ts'
import { createTokens } from '../../src/store/identity/tokens.ts'
import { createRecords } from '../../src/store/records.ts'
import { createConfigMaps } from '../../src/store/resources/configmaps.ts'
import { createSecretStorage } from '../../src/store/resources/secrets.ts'
import { openMigrated } from '../fixtures/sqlite.ts'
import type { BenchStores, RecordBench, RecordFaults } from './record-bench.ts'

const START = Date.parse('2026-03-01T12:00:00.000Z')

const ids: Ids = {
  next: (prefix) => (prefix === undefined ? randomUUID() : `${prefix}-${randomUUID()}`),
  hex: (length) => randomUUID().replaceAll('-', '').slice(0, length),
  random: () => 0.5,
}

function breakDatabase(database: Database, faults: RecordFaults): Database {
  return {
    ...database,
    write: (work) => {
      if (faults.writes === 'hang') {
        faults.hanging += 1
        return new Promise(() => undefined)
      }
      if (faults.writes === 'fail') return Promise.reject(new Error('the process died before the transaction'))
      return database.write(work)
    },
  }
}

/** A file whose writes take from the bytes that are left on the pretended disk. */
function breakFile(handle: FileHandle, faults: RecordFaults): FileHandle {
  function spend(size: number): void {
    if (faults.diskBytes === undefined) return
    faults.diskBytes -= size
    if (faults.diskBytes < 0) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
  }
  return new Proxy(handle, {
    get(target, property) {
      if (property === 'appendFile') {
        return async (data: Uint8Array) => {
          spend(data.length)
          return target.appendFile(data)
        }
      }
      if (property === 'write') {
        return async (data: Uint8Array, offset: number, length: number, position: number) => {
          // A full disk takes half of the bytes before it refuses: what was written must not stay.
          if (faults.diskBytes !== undefined) await target.write(data, offset, length >> 1, position)
          spend(length)
          return target.write(data, offset, length, position)
        }
      }
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function countFiles(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).length
}

/** Opens the stores in a fresh folder, or in the one given. */
export async function openSqliteBench(options: { blobDir?: string } = {}): Promise<RecordBench> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-records-'))
  const blobDir = options.blobDir ?? join(folder, 'data')
  let time = START
  const clock: Clock = { now: () => new Date(time), sleep: () => Promise.resolve() }
  const faults: RecordFaults = { diskBytes: undefined, writes: 'work', hanging: 0 }

  async function openStores(): Promise<{ stores: BenchStores; close(): Promise<void> }> {
    const sqlite = await openMigrated(join(folder, 'svc.db'))
    const database = breakDatabase(sqlite, faults)
    const openFile = async (path: string) => {
      const flags = path.endsWith('.log') ? 'a+' : 'wx'
      await (await open(path, flags)).close()
      return breakFile(await open(path, 'r+'), faults)
    }
    const records = createRecords({ database, blobDir, clock, ids, openFile })
    const tokens = createTokens({ database, clock, ids })
    return {
      stores: {
        ...records,
        tokens,
        signInLinks: createSignInLinks({ database, clock, ids }),
        secrets: createSecretStorage({ database }),
        configMaps: createConfigMaps({ database, clock }),
      },
      close: async () => {
        await records.close()
        await sqlite.close()
      },
    }
  }

  let current = await openStores()
  return {
    stores: () => current.stores,
    reopen: async () => {
      await current.close()
      faults.writes = 'work'
      current = await openStores()
    },
    authenticator: (extra = {}) => createTokenAuthenticator({ tokens: current.stores.tokens, clock, ...extra }),
    faults,
    advance: (ms) => {
      time += ms
    },
    now: () => new Date(time),
    countBodies: () => countFiles(join(blobDir, 'blobs')),
    close: async () => {
      await current.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
