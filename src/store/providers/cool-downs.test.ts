import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMigrated } from '../../../test/fixtures/sqlite.ts'
import { systemClock as clock } from '../../lib/system-clock.ts'
import type { CoolDown } from '../../ports/providers/provider-state.ts'
import type { Database } from '../database/database.ts'
import { createCoolDowns } from './cool-downs.ts'

const provider = { namespace: 'default', name: 'main' }

describe('cool-downs in memory', () => {
  let folder: string
  let database: Database & { close(): Promise<void> }
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'svc-cool-downs-'))
    database = await openMigrated(join(folder, 'svc.db'))
  })
  afterEach(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })

  const pause = (model: string): CoolDown => ({
    until: new Date(clock.now().getTime() + 60_000),
    reason: 'overloaded',
    failure: 'ProviderOverloaded',
    asked: true,
    model,
  })

  /** The database with reads that give what there was before `release` was called, and only then. */
  function holdReads() {
    const { promise, resolve: release } = Promise.withResolvers<void>()
    let isHeld = true
    const held: Database = {
      ...database,
      read: {
        ...database.read,
        async all(statement) {
          const rows = await database.read.all(statement)
          if (isHeld) await promise
          return rows
        },
      },
    }
    return {
      held,
      release: () => {
        isHeld = false
        release()
      },
    }
  }

  it('are not dropped by a read that began before them and ends after them', async () => {
    const { held, release } = holdReads()
    const coolDowns = createCoolDowns({ database: held, clock })
    coolDowns.peekCoolDown(provider, 'm')
    await coolDowns.coolDown(provider, pause('m'))
    release()
    for (let look = 0; look < 50; look += 1) {
      expect(coolDowns.peekCoolDown(provider, 'm')?.model).toBe('m')
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  })
})
