import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMigrated } from '../../../test/fixtures/sqlite.ts'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { systemClock as clock } from '../../lib/system-clock.ts'
import type { CoolDown } from '../../ports/providers/provider-state.ts'
import type { Database } from '../database/database.ts'
import { createCoolDowns } from './cool-downs.ts'
import { createRateLimits } from './rate-limits.ts'

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

  it('last as long as the vendor asked for, whatever the wall clock is set to meanwhile', async () => {
    const manual = createManualClock()
    const coolDowns = createCoolDowns({ database, clock: manual })
    const until = new Date(manual.now().getTime() + 60_000)
    await coolDowns.coolDown(provider, { ...pause('m'), until })
    manual.set(-7_200_000)
    await manual.advance(30_000)
    const leftMs = async () => {
      const found = await coolDowns.coolingDown(provider, 'm')
      return found && found.until.getTime() - manual.now().getTime()
    }
    expect(await leftMs()).toBe(30_000)
    expect(coolDowns.peekCoolDown(provider, 'm')?.until.getTime()).toBe(manual.now().getTime() + 30_000)
    await manual.advance(30_001)
    expect(await leftMs()).toBeUndefined()
  })

  it('end when they were set to, although the two clocks of a machine are never quite the same', async () => {
    const manual = createManualClock()
    const coolDowns = createCoolDowns({ database, clock: manual })
    const until = new Date(manual.now().getTime() + 60_000)
    await coolDowns.coolDown(provider, { ...pause('m'), until })
    for (const drift of [1, -2, 500]) {
      manual.set(drift)
      expect((await coolDowns.coolingDown(provider, 'm'))?.until).toEqual(until)
    }
  })

  it('that end while the clock is set forward are over, and hold nobody up', async () => {
    const manual = createManualClock()
    const coolDowns = createCoolDowns({ database, clock: manual })
    await coolDowns.coolDown(provider, { ...pause('m'), until: new Date(manual.now().getTime() + 60_000) })
    manual.set(7_200_000)
    await manual.advance(60_001)
    expect(await coolDowns.coolingDown(provider, 'm')).toBeUndefined()
  })
})

describe('rate limits', () => {
  it('hold nobody up for as long as the wall clock was set back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-rate-limits-'))
    const database = await openMigrated(join(folder, 'svc.db'))
    const manual = createManualClock()
    const limits = createRateLimits({ database, clock: manual })
    const take = () => limits.take(provider, { requests: 1, tokens: 0 }, { requestsPerMinute: 1 })
    expect(await take()).toMatchObject({ granted: true })
    expect(await take()).toMatchObject({ granted: false })
    manual.set(-7_200_000)
    expect(await take()).toMatchObject({ granted: true })
    expect(await take()).toMatchObject({ granted: false })
    await manual.advance(60_000)
    expect(await take()).toMatchObject({ granted: true })
    await database.close()
    rmSync(folder, { recursive: true })
  })
})
