// Mounts of this process: made, removed and listed by the system's tools. A workspace can be a file system in one file,
// whose bytes and files the kernel limits exactly; a folder of files can be shown in many workspaces, each with changes
// of its own (overlayfs).
import { readFileSync, readlinkSync } from 'node:fs'
import { mkdir, open, readFile, rmdir, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../errors.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { SharedFiles } from '../../ports/workspaces/checkouts.ts'
import { systemTools } from '../host/tool-shell.ts'
import type { WorkspaceSize } from './size.ts'

/** Current users keep the file system until they end; nobody else sees it from now on. */
export async function unmount(folder: string): Promise<void> {
  await systemTools.run('umount', [folder]).catch(() => systemTools.run('umount', ['--lazy', folder]))
}

type Mount = { point: string; isShared: boolean }

function readPath(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}

/** Lines of proc_pid_mountinfo(5): field 5 is the mount point, the optional fields up to the dash say who shares it. */
function listMounts(): Mount[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n')
  return lines.map((line) => {
    const fields = line.split(' ')
    return {
      point: readPath(fields[4] ?? ''),
      isShared: fields.slice(6, fields.indexOf('-')).some((field) => field.startsWith('shared:')),
    }
  })
}

/** How many mounts lie on each other at this folder. */
function countMountsAt(folder: string): number {
  return process.platform === 'linux' ? listMounts().filter(({ point }) => point === folder).length : 0
}

/** Removes all that is mounted at this folder. */
export async function unmountAll(folder: string): Promise<void> {
  for (let left = countMountsAt(folder); left > 0; left -= 1) await unmount(folder)
}

/** Mounts directly below this folder. */
export function listMountsIn(folder: string): string[] {
  if (process.platform !== 'linux') return []
  return listMounts()
    .map(({ point }) => point)
    .filter((point) => point.startsWith(`${folder}/`) && !point.slice(folder.length + 1).includes('/'))
}

function readNamespace(process: string): string | undefined {
  try {
    return readlinkSync(`/proc/${process}/ns/mnt`)
  } catch {
    return undefined
  }
}

/** Whether the mount namespace belongs to this process and ends with it: not its parent's, nor the first process's. */
function hasOwnMounts(): boolean {
  const own = readNamespace('self')
  const others = ['1', String(process.ppid)].map(readNamespace)
  return process.pid === 1 || others.some((other) => other !== undefined && other !== own)
}

/** Why mounts of this process would be visible to others and outlive it; undefined when they would not. */
export function findMountProblem(): string | undefined {
  if (process.platform !== 'linux') return 'it needs Linux'
  if (process.getuid?.() !== 0) return 'the service does not run as root'
  if (!hasOwnMounts())
    return 'the service has no mount namespace of its own (its launcher makes one with unshare where it may)'
  return listMounts().some(({ point, isShared }) => point === '/' && isShared)
    ? 'mounts of its mount namespace are shared with others'
    : undefined
}

const inodeBytes = 256
/** Inodes that the file system reserves for itself. */
const ownInodes = 11
/** Bytes of bitmaps, descriptors and the root folder, in addition to the table of inodes. */
const overhead = 1.01
const minBytes = 1024 ** 2

/** Without a journal, and with lazily filled tables: it lives as long as one attempt, and takes 20 ms to create. */
const features = ['-O', '^has_journal,^resize_inode', '-E', 'lazy_itable_init=1,nodiscard', '-m', '0']

/**
 * Creates the file system in a sparse file: otherwise an idle worker would reserve gigabytes, and the free space of
 * the disk is watched anyway.
 */
async function makeImage(file: string, { bytes, files }: WorkspaceSize): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.truncate(Math.ceil(bytes * overhead) + (files + ownInodes) * inodeBytes + minBytes)
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

/** They would end the path, or begin another option (mount(8), overlayfs of the kernel's documentation). */
const unsafeInOptions = /[:,\\"\s]/

/**
 * `redirect_dir`: folders of `files` can be renamed. `xino`: files keep their number when they are changed, and all seem
 * to be on one device.
 */
const defaultOptions = ['nosuid', 'nodev', 'noatime', 'redirect_dir=on', 'xino=auto']

/**
 * Mounts `files` on `folder`, a file system of its own that keeps what is changed. `files` is never written to, and must
 * not change while it is shown.
 */
async function mountOverlay(files: string, folder: string): Promise<void> {
  const [changes, work] = [join(folder, 'changes'), join(folder, 'work')]
  if (unsafeInOptions.test(files + folder)) throw new Error(`the path cannot be an option of a mount: ${files}`)
  await mkdir(changes, { mode: 0o700 })
  await mkdir(work, { mode: 0o700 })
  const folders = [`lowerdir=${files}`, `upperdir=${changes}`, `workdir=${work}`]
  try {
    await systemTools.run('mount', ['-t', 'overlay', 'overlay', '-o', [...defaultOptions, ...folders].join(), folder])
  } catch (error) {
    for (const path of [changes, work]) await removeTree(path)
    throw error
  }
}

/** Why files cannot be shared in `folder`, a file system of its own; undefined when it was done there. It is as it was. */
export async function findOverlayProblem(folder: string, scratch: string): Promise<string | undefined> {
  try {
    await mkdir(scratch, { recursive: true, mode: 0o700 })
    await writeFile(join(scratch, 'file'), 'shared')
    await mountOverlay(scratch, folder)
    try {
      await writeFile(join(folder, 'file'), 'changed')
      const text = await readFile(join(scratch, 'file'), 'utf8')
      return text === 'shared' ? undefined : 'changes of a workspace reach the files that it shares'
    } finally {
      await unmount(folder)
    }
  } catch (error) {
    return messageOf(error)
  } finally {
    await removeTree(scratch)
  }
}

/** `isPossible`: whether it was found to work here. A folder that is no file system of its own gets copies. */
export function createSharedFiles(isPossible: () => Promise<boolean>): SharedFiles {
  return {
    async canShow(folder, { bytes, files }) {
      if (!(await isPossible()) || countMountsAt(folder) !== 1) return false
      // As if they were copied: otherwise they would fit here and nowhere else.
      const { bavail, bsize, ffree } = await statfs(folder)
      return bytes <= bavail * bsize && files <= ffree
    },
    show: mountOverlay,
  }
}
