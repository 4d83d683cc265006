// A workspace as a separate file system in one file: the kernel limits its bytes and files exactly.
import { open, rmdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { systemTools } from '../host/tool-shell.ts'
import type { WorkspaceSize } from './size.ts'

const inodeBytes = 256
/** Inodes that the file system reserves for itself. */
const ownInodes = 11
/** Bytes of bitmaps, descriptors and the root folder, in addition to the table of inodes. */
const overhead = 1.01
const smallest = 1024 ** 2

/** Without a journal, and with lazily filled tables: it lives as long as one attempt, and takes 20 ms to create. */
const features = ['-O', '^has_journal,^resize_inode', '-E', 'lazy_itable_init=1,nodiscard', '-m', '0']

/**
 * Creates the file system in a sparse file: otherwise an idle worker would reserve gigabytes, and the free space of
 * the disk is watched anyway.
 */
async function makeImage(file: string, { bytes, files }: WorkspaceSize): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.truncate(Math.ceil(bytes * overhead) + (files + ownInodes) * inodeBytes + smallest)
  } finally {
    await handle.close()
  }
  await systemTools.run('mkfs.ext4', ['-q', '-F', '-N', String(files + ownInodes), ...features, file])
}

/**
 * `discard` gives blocks of deleted files back to the disk. A sandbox that has bound the folder already sees what is
 * mounted on it later (`--make-shared`).
 */
export async function mountImage(file: string, folder: string, size: WorkspaceSize): Promise<void> {
  await makeImage(file, size)
  const options = 'loop,discard,nosuid,nodev,noatime'
  await systemTools.run('mount', ['--make-shared', '-t', 'ext4', '-o', options, file, folder])
  await rmdir(join(folder, 'lost+found')).catch(() => undefined)
}

const almostNothing = 64 * 1024

/** Whether nothing more can be written to it. */
export async function isImageFull(folder: string): Promise<boolean> {
  const { bavail, bsize, ffree } = await statfs(folder)
  return bavail * bsize < almostNothing || ffree === 0
}
