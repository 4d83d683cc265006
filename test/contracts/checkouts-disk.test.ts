// Checkouts on a disk that is full: said so, nothing half left, and everything works again once there is room.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCheckouts } from '../../src/adapters/git/checkouts.ts'
import { createEgress } from '../../src/egress/egress.ts'
import type { Checkouts } from '../../src/ports/checkouts.ts'
import { type CheckoutBed, failureOf, makeCheckoutBed, never, ownNetwork } from '../fixtures/git/checkout-bed.ts'
import { git } from '../fixtures/git/repository.ts'

const mebibyte = 1024 ** 2

/** A file system of 12 MiB, or undefined where this user may not mount one. */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'svc-small-disk-'))
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    rmSync(folder, { recursive: true, force: true })
    return undefined
  }
}

const smallDisk = mountSmallDisk()

describe.skipIf(smallDisk === undefined)('a disk that is really full (skipped where tmpfs cannot be mounted)', () => {
  const disk = smallDisk ?? ''
  const noise = randomBytes(mebibyte)
  const egress = createEgress()
  let bed: CheckoutBed
  beforeAll(async () => {
    bed = await makeCheckoutBed()
    bed.repository('noise', { 'noise.bin': noise, 'a.txt': 'x\n' })
  })
  afterEach(() => {
    for (const name of readdirSync(disk)) rmSync(join(disk, name), { recursive: true, force: true })
  })
  afterAll(async () => {
    await egress.close()
    await bed.remove()
    execFileSync('/bin/umount', [disk])
    rmSync(disk, { recursive: true, force: true })
  })

  const open = (root: string): Checkouts => createCheckouts({ root, egress, policy: ownNetwork })
  const fill = (free: number) => {
    const { bavail, bsize } = statfsSync(disk)
    writeFileSync(join(disk, 'ballast'), Buffer.alloc(bavail * bsize - free))
  }
  const makeRoom = () => rmSync(join(disk, 'ballast'))
  const full = { fault: 'DiskFull', message: expect.stringContaining('Free some') }

  it.each([
    ['while objects are fetched', mebibyte / 2],
    ['while files are written', 1.5 * mebibyte],
  ])('is said %s, and the next checkout is whole', async (_when, free) => {
    const checkouts = open(join(disk, 'private'))
    const folder = join(disk, 'work')
    fill(free)
    const spec = bed.spec('noise')
    expect(await failureOf(checkouts.prepare(spec, folder, never))).toMatchObject(full)
    expect(readdirSync(join(disk, 'private', 'checkouts'))).toEqual([])
    expect(readdirSync(join(disk, 'private', 'objects', 'staging'))).toEqual([])
    makeRoom()
    rmSync(folder, { recursive: true, force: true })
    const checkout = await checkouts.prepare(spec, folder, never)
    expect(readFileSync(join(folder, 'noise.bin')).equals(noise)).toBe(true)
    git(folder, ['fsck', '--strict'])
    await checkout.close()
  })

  it('is said when the changes do not fit, and they can be read once there is room', async () => {
    const checkout = await open(join(disk, 'private')).prepare(bed.spec('noise'), bed.newFolder(), never)
    writeFileSync(join(checkout.folder, 'more.bin'), randomBytes(2 * mebibyte))
    fill(mebibyte)
    expect(await failureOf(checkout.commit('work'))).toMatchObject(full)
    makeRoom()
    expect((await checkout.diff()).files).toMatchObject([{ path: 'more.bin', change: 'added' }])
    expect(await checkout.commit('work')).toBeDefined()
  })
})
