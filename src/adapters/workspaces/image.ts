// A workspace as a separate file system in one file: the kernel limits its bytes and files exactly.
import { execFile } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { open, rmdir, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { WorkspaceSize } from './size.ts'

const run = promisify(execFile)
const environment = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

async function runTool(name: string, args: string[]): Promise<void> {
  try {
    await run(name, args, { env: environment, timeout: 30_000 })
  } catch (error) {
    const { code, stderr = '' } = error as { code?: string; stderr?: string }
    const words = code === 'ENOENT' ? 'it is not installed' : stderr.trim().split('\n')[0]
    throw new Error(`${name}: ${words}`)
  }
}

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
  await runTool('mkfs.ext4', ['-q', '-F', '-N', String(files + ownInodes), ...features, file])
}

/** `discard` gives blocks of deleted files back to the disk. */
export async function mountImage(file: string, folder: string, size: WorkspaceSize): Promise<void> {
  await makeImage(file, size)
  await runTool('mount', ['-t', 'ext4', '-o', 'loop,discard,nosuid,nodev,noatime', file, folder])
  await rmdir(join(folder, 'lost+found')).catch(() => undefined)
}

/** Current users keep the file system until they end; nobody else sees it from now on. */
export async function unmount(folder: string): Promise<void> {
  await runTool('umount', [folder]).catch(() => runTool('umount', ['--lazy', folder]))
}

const almostNothing = 64 * 1024

/** Whether nothing more can be written to it. */
export async function isImageFull(folder: string): Promise<boolean> {
  const { bavail, bsize, ffree } = await statfs(folder)
  return bavail * bsize < almostNothing || ffree === 0
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
