import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import { createScratch } from './scratch.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-scratch-test-'))
const outside = mkdtempSync(join(tmpdir(), 'svc-scratch-outside-'))
afterEach(() => {
  for (const folder of [root, outside]) rmSync(folder, { recursive: true, force: true })
})

const hour = 3_600_000

function open() {
  const clock = createManualClock()
  const scratch = createScratch({ root, clock })
  const visitAs = async (owner: string, ...parts: string[]) => {
    const { folder, release } = await scratch.lease(owner, parts)
    await release()
    return folder
  }
  return { clock, scratch, visitAs, visit: (...parts: string[]) => visitAs('me', ...parts) }
}

describe('scratch folders', () => {
  it('report when they hold too much; a full one can still be used but not grow', async () => {
    const scratch = createScratch({ root, clock: createManualClock(), size: { bytes: 1024 ** 2, files: 100 } })
    const first = await scratch.lease('me', ['a'])
    writeFileSync(join(first.folder, 'big'), Buffer.alloc(3 * 1024 ** 2, 1))
    await expect.poll(() => first.full.aborted).toBe(true)
    expect(first.full.reason).toMatchObject({ reason: 'StorageFull', message: expect.stringContaining('1 MiB') })
    await first.release()
    const second = await scratch.lease('me', ['a'])
    expect(second.full.aborted).toBe(false)
    writeFileSync(join(second.folder, 'more'), Buffer.alloc(1024 ** 2, 1))
    await expect.poll(() => second.full.aborted).toBe(true)
    await second.release()
  })

  it('of one owner share a quota, apart from other owners', async () => {
    const mebibyte = 1024 ** 2
    const quota = { bytes: 3 * mebibyte, files: 100 }
    const scratch = createScratch({
      root,
      clock: createManualClock(),
      size: { bytes: 2 * mebibyte, files: 100 },
      quota,
    })
    const words = expect.stringContaining('may hold no more than 3 MiB')
    const fill = (folder: string, bytes: number) => writeFileSync(join(folder, 'data'), Buffer.alloc(bytes, 1))
    const held = await scratch.lease('me', ['a'])
    fill(held.folder, 1.9 * mebibyte)
    await held.release()
    const [second, third] = [await scratch.lease('me', ['b']), await scratch.lease('me', ['c'])]
    // Each is within what is left; together they are not.
    fill(second.folder, 0.7 * mebibyte)
    fill(third.folder, 0.7 * mebibyte)
    await expect.poll(() => second.full.aborted || third.full.aborted, { timeout: 10_000 }).toBe(true)
    const [over] = [second, third].filter(({ full }) => full.aborted)
    expect(over?.full.reason).toMatchObject({ reason: 'StorageFull', message: words })
    await Promise.all([second.release(), third.release()])
    await expect(scratch.lease('me', ['d'])).rejects.toMatchObject({ reason: 'StorageFull', message: words })
    const restarted = createScratch({ root, clock: createManualClock(), quota })
    await expect(restarted.lease('me', ['d'])).rejects.toMatchObject({ reason: 'StorageFull', message: words })
    await (await scratch.lease('you', ['d'])).release()
    const again = await scratch.lease('me', ['a'])
    rmSync(join(again.folder, 'data'))
    await again.release()
    await (await scratch.lease('me', ['d'])).release()
  })

  it('that were removed count no more, nor what was deleted in one that is held by two', async () => {
    const clock = createManualClock()
    const quota = { bytes: 2 * 1024 ** 2, files: 100 }
    const scratch = createScratch({ root, clock, quota })
    const fill = (folder: string) => writeFileSync(join(folder, 'data'), Buffer.alloc(quota.bytes, 1))
    const old = await scratch.lease('me', ['a'])
    fill(old.folder)
    await old.release()
    await expect(scratch.lease('me', ['b'])).rejects.toMatchObject({ reason: 'StorageFull' })
    await clock.advance(2 * hour)
    const [one, two] = [await scratch.lease('me', ['b']), await scratch.lease('me', ['b'])]
    fill(one.folder)
    await one.release()
    await expect(scratch.lease('me', ['c'])).rejects.toMatchObject({ reason: 'StorageFull' })
    rmSync(join(two.folder, 'data'))
    await two.release()
    await (await scratch.lease('me', ['c'])).release()
  })

  it('are private, and one for each conversation of each caller [BUILT-027]', async () => {
    const { visit, visitAs } = open()
    const folder = await visit('default', 's1')
    writeFileSync(join(folder, 'kept'), 'x')
    expect(await visit('default', 's1')).toBe(folder)
    expect(existsSync(join(folder, 'kept'))).toBe(true)
    const others = await Promise.all([visit('default', 's2'), visitAs('bob', 'default', 's1')])
    expect(new Set([folder, ...others]).size).toBe(3)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
  })

  it('are removed when nobody has held them for an hour', async () => {
    const { clock, visit } = open()
    const old = await visit('a')
    await clock.advance(hour * 0.8)
    const used = await visit('b')
    await clock.advance(hour * 0.3)
    await visit('c')
    expect([existsSync(old), existsSync(used)]).toEqual([false, true])
  })

  it('are aged by the time that the service noted, whatever times and links a program sets', async () => {
    const { clock, visit } = open()
    for (let number = 0; number < 60; number++) {
      mkdirSync(join(outside, `d${number}`), { recursive: true })
      writeFileSync(join(outside, `d${number}`, 'file'), 'x')
    }
    const folder = await visit('a')
    mkdirSync(join(folder, 'inner'))
    rmSync(join(folder, 'inner'), { recursive: true })
    symlinkSync(outside, join(folder, 'inner'))
    utimesSync(folder, 0, 0)
    await clock.advance(hour / 2)
    await visit('b')
    expect(existsSync(folder)).toBe(true)
    await clock.advance(2 * hour)
    await visit('b')
    expect(existsSync(folder)).toBe(false)
    expect(readdirSync(outside).filter((name) => existsSync(join(outside, name, 'file'))).length).toBe(60)
  })

  it('stay for as long as they are held, and age from the end of the last hold', async () => {
    const { clock, scratch, visit } = open()
    const first = await scratch.lease('me', ['a'])
    const second = await scratch.lease('me', ['a'])
    await clock.advance(10 * hour)
    await first.release()
    await first.release()
    await clock.advance(10 * hour)
    await visit('b')
    expect(existsSync(second.folder)).toBe(true)
    await second.release()
    await clock.advance(hour / 2)
    await visit('b')
    expect(existsSync(second.folder)).toBe(true)
  })

  it('are swept after a restart, too', async () => {
    const before = open()
    const left = await before.visit('a')
    const after = open()
    await after.clock.advance(2 * hour)
    await after.visit('b')
    expect(existsSync(left)).toBe(false)
  })
})
