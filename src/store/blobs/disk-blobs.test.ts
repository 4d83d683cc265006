import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { BlobReference } from './blobs.ts'
import { createDiskBlobs } from './disk-blobs.ts'

const limits = { limit: 1_000_000, tooLarge: 'too large', empty: 'empty' }

describe('bodies on disk', () => {
  let folder: string
  let made = 0
  const ids = { next: () => `blob-${made++}-ab`, hex: () => '', random: () => 0 }
  const body = (size: number) => Readable.from([Buffer.alloc(size)], { objectMode: false })
  const listFiles = async () =>
    (await readdir(folder, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-blobs-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('are kept in the row when small, and in files named by id when large', async () => {
    const blobs = createDiskBlobs({ folder, ids })
    const keep = async (blob: BlobReference) => blob
    expect((await blobs.store(body(100), limits, keep)).blob_id).toBeNull()
    expect(await listFiles()).toEqual([])
    const large = await blobs.store(body(100_000), limits, keep)
    expect(large.content).toBeNull()
    expect(await listFiles()).toEqual([large.blob_id])
  })

  it('are moved into place before the row is written, and removed when that fails', async () => {
    const blobs = createDiskBlobs({ folder, ids })
    let seen: string[] = []
    const failing = blobs.store(body(100_000), limits, async () => {
      seen = await listFiles()
      throw new Error('no row')
    })
    await expect(failing).rejects.toThrow('no row')
    expect(seen).toHaveLength(1)
    expect(await listFiles()).toEqual([])
  })

  it('are swept when half-written or without a row, but not while they are being stored', async () => {
    await mkdir(join(folder, 'tmp'), { recursive: true })
    await mkdir(join(folder, 'cd'), { recursive: true })
    await writeFile(join(folder, 'tmp', 'half-cd'), 'x')
    await writeFile(join(folder, 'cd', 'orphan-cd'), 'x')
    await writeFile(join(folder, 'cd', 'known-cd'), 'x')
    const blobs = createDiskBlobs({ folder, ids })
    const known = async (blobIds: string[]) => new Set(blobIds.filter((id) => id === 'known-cd'))
    const removed = await blobs.store(body(100_000), limits, () => blobs.sweepOrphans(known))
    expect(removed).toBe(2)
    expect(await listFiles()).toHaveLength(2)
    expect(await blobs.sweepOrphans(known)).toBe(1)
    expect(await listFiles()).toEqual(['known-cd'])
  })

  it('give Conflict when they are removed after their row was read', async () => {
    const blobs = createDiskBlobs({ folder, ids })
    const blob = await blobs.store(body(100_000), limits, async (stored) => stored)
    await blobs.remove([blob.blob_id, null])
    await blobs.remove([blob.blob_id])
    expect(() => blobs.open(blob)).toThrow('read it again')
  })
})
