// Checkouts on a disk that is full: said so, nothing half left, and everything works again once there is room.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createEgress } from '../../src/egress/egress.ts'
import { createCheckouts } from '../../src/git/checkouts.ts'
import type { Checkouts } from '../../src/ports/workspaces/checkouts.ts'
import { type CheckoutBed, failureOf, makeCheckoutBed, never, ownNetwork } from '../fixtures/git/checkout-bed.ts'
import { git } from '../fixtures/git/repository.ts'
import { openSmallDisk, type SmallDisk, smallDiskRefusal } from '../fixtures/small-disk.ts'

const mebibyte = 1024 ** 2

describe.skipIf(smallDiskRefusal !== undefined)(`a disk that is really full ${smallDiskRefusal ?? ''}`, () => {
  let small: SmallDisk
  let disk: string
  const noise = randomBytes(mebibyte)
  const egress = createEgress()
  let bed: CheckoutBed
  beforeAll(async () => {
    small = openSmallDisk(12)
    disk = small.folder
    bed = await makeCheckoutBed()
    bed.repository('noise', { 'noise.bin': noise, 'a.txt': 'x\n' })
  })
  afterEach(() => {
    for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true, force: true })
  })
  afterAll(async () => {
    await egress.close()
    await bed.remove()
    small.remove()
  })

  const open = (root: string): Checkouts => createCheckouts({ root, egress, policy: ownNetwork })
  const full = { fault: 'DiskFull', message: expect.stringContaining('Free some') }

  it.each([
    ['while objects are fetched', mebibyte / 2],
    ['while files are written', 1.5 * mebibyte],
  ])('is said %s, and the next checkout is whole', async (_when, free) => {
    const checkouts = open(join(disk, 'private'))
    const folder = join(disk, 'work')
    small.leaveFree(free)
    const spec = bed.spec('noise')
    expect(await failureOf(checkouts.prepare(spec, folder, never))).toMatchObject(full)
    expect(readdirSync(join(disk, 'private', 'checkouts'))).toEqual([])
    expect(readdirSync(join(disk, 'private', 'objects', 'staging'))).toEqual([])
    small.makeRoom()
    rmSync(folder, { recursive: true, force: true })
    const checkout = await checkouts.prepare(spec, folder, never)
    expect(readFileSync(join(folder, 'noise.bin')).equals(noise)).toBe(true)
    git(folder, ['fsck', '--strict'])
    await checkout.close()
  })

  it('is said when the changes do not fit, and they can be read once there is room', async () => {
    const checkout = await open(join(disk, 'private')).prepare(bed.spec('noise'), bed.newFolder(), never)
    writeFileSync(join(checkout.folder, 'more.bin'), randomBytes(2 * mebibyte))
    small.leaveFree(mebibyte)
    expect(await failureOf(checkout.commit('work'))).toMatchObject(full)
    small.makeRoom()
    expect((await checkout.diff()).files).toMatchObject([{ path: 'more.bin', change: 'added' }])
    expect(await checkout.commit('work')).toBeDefined()
  })
})
