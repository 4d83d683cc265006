// Folders that untrusted code writes to, accessed by descriptor, so that a link put in between leads nowhere else.
import { constants } from 'node:fs'
import { chmod, type FileHandle, open } from 'node:fs/promises'

/**
 * A descriptor that only names its file; works even for an unreadable folder (O_PATH of open(2), which Node does not
 * define).
 */
const nameOnly = 0o10000000
const flags = nameOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether the paths below work: they are entries of Linux's /proc. */
export const hasHandles = process.platform === 'linux'

/** The path of the folder itself; equivalent to its descriptor. */
export function folderPath(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`
}

export function entryPath(folder: FileHandle, name: string): string {
  return `${folderPath(folder)}/${name}`
}

/**
 * Names are bytes, and here each of them is one character, as with the encoding `latin1` of opendir: a name that is no UTF-8
 * could not be found again otherwise.
 */
export function entryBytes(folder: FileHandle, name: string): Buffer {
  return Buffer.from(entryPath(folder, name), 'latin1')
}

/** ENOTDIR when it is a link or anything else that is not a folder. */
export function enterFolder(address: string | Buffer): Promise<FileHandle> {
  return open(address, flags)
}

/** Restores the service's permissions on the folder that a program removed. */
export function unlockFolder(folder: FileHandle): Promise<void> {
  return chmod(folderPath(folder), 0o700)
}
