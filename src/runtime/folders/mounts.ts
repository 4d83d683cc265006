// Mounts of this process: made and removed by the system's tools, listed, and judged by who else sees them.
import { readFileSync, readlinkSync } from 'node:fs'
import { systemTools } from '../host/tool-shell.ts'

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
export function countMountsAt(folder: string): number {
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
