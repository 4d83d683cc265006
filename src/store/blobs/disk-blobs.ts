// Bodies as files. A file is written under tmp/, made durable, renamed, its folder made durable; only then comes the
// row.
import { createReadStream, openSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { SvcError } from '../../errors.ts'
import type { Ids } from '../../lib/clock.ts'
import { hasCode } from '../../lib/error-code.ts'
import { type Blobs, isBlobId } from './blobs.ts'
import { type BodySink, storeBody } from './receive-body.ts'

const SWEEP_BATCH = 500
const TEMPORARY = 'tmp'

export type DiskBlobsOptions = {
  /** Folder of the files; created when missing. Only one process at a time may sweep it. */
  folder: string
  ids: Ids
  /** Opens a file for writing; tests give one that fails. */
  openFile?: (path: string) => Promise<FileHandle>
}

type Disk = Required<DiskBlobsOptions> & { active: Set<string> }

/** Makes new names in the folder durable (fsync(2): a file's own sync does not cover its directory entry). */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Internal for what is no id: a database may be somebody else's. */
function locate(disk: Disk, id: string): { folder: string; path: string; temporary: string } {
  if (!isBlobId(id))
    throw new SvcError('Internal', `the database names the body ${JSON.stringify(id)}, which is no id of one`)
  const folder = join(disk.folder, id.slice(-2))
  return { folder, path: join(folder, id), temporary: join(disk.folder, TEMPORARY, id) }
}

async function publishFile(disk: Disk, id: string): Promise<void> {
  const { folder, path, temporary } = locate(disk, id)
  const made = await mkdir(folder, { recursive: true })
  await rename(temporary, path)
  await syncFolder(folder)
  if (made !== undefined) await syncFolder(disk.folder)
}

async function writeFile(disk: Disk, id: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  await mkdir(join(disk.folder, TEMPORARY), { recursive: true })
  const handle = await disk.openFile(locate(disk, id).temporary)
  try {
    for await (const chunk of chunks) await handle.appendFile(chunk)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await publishFile(disk, id)
}

async function removeFile(disk: Disk, id: string): Promise<void> {
  const { path, temporary } = locate(disk, id)
  await rm(path, { force: true })
  await rm(temporary, { force: true })
}

function openFileStream(disk: Disk, id: string): Readable {
  try {
    return createReadStream('', { fd: openSync(locate(disk, id).path, 'r'), autoClose: true })
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT')) throw cause
    throw new SvcError('Conflict', 'the data was replaced or removed while it was being read: read it again', { cause })
  }
}

async function listFiles(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
}

async function sweepFolder(
  disk: Disk,
  shard: string,
  findReferenced: (blobIds: string[]) => Promise<Set<string>>,
): Promise<number> {
  let removed = 0
  const names = await listFiles(join(disk.folder, shard))
  // Checked after the folder was read: an id that is not active now has its row already, or never gets one.
  const idle = names.filter((name) => !disk.active.has(name))
  for (let start = 0; start < idle.length; start += SWEEP_BATCH) {
    const batch = idle.slice(start, start + SWEEP_BATCH)
    const referenced = shard === TEMPORARY ? new Set<string>() : await findReferenced(batch)
    const orphans = batch.filter((name) => !referenced.has(name))
    await Promise.all(orphans.map((name) => rm(join(disk.folder, shard, name), { force: true })))
    removed += orphans.length
  }
  return removed
}

export function createDiskBlobs(options: DiskBlobsOptions): Blobs {
  const openFile = options.openFile ?? ((path: string) => open(path, 'wx', 0o600))
  const disk: Disk = { ...options, openFile, active: new Set() }
  const sink: BodySink = {
    write: (id, chunks) => writeFile(disk, id, chunks),
    discard: (id) => removeFile(disk, id),
  }
  return {
    async store(body, limits, commit) {
      const id = disk.ids.next()
      disk.active.add(id)
      try {
        return await storeBody(sink, id, { body, limits, commit })
      } finally {
        disk.active.delete(id)
      }
    },
    open(blob) {
      if (blob.blob_id !== null) return openFileStream(disk, blob.blob_id)
      return Readable.from(blob.content === null ? [] : [Buffer.from(blob.content)], { objectMode: false })
    },
    async remove(blobIds) {
      const ids = blobIds.filter((id) => id !== null)
      // The rows are gone already: a file that cannot be removed now is an orphan, and swept later.
      await Promise.allSettled(ids.map(async (id) => rm(locate(disk, id).path, { force: true })))
    },
    async sweepOrphans(findReferenced) {
      let removed = 0
      for (const shard of await listFiles(disk.folder)) removed += await sweepFolder(disk, shard, findReferenced)
      return removed
    },
  }
}
