// Folders that untrusted code writes in, entered by descriptor: no link that is put in between leads elsewhere.
import { constants } from 'node:fs'
import { chmod, type FileHandle, open } from 'node:fs/promises'

/** A descriptor that only names its file: it can be had of a folder that may not be read (O_PATH of open(2), which Node does not name). */
const nameOnly = 0o10000000
const flags = nameOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether the addresses below can be had: they are entries of Linux's /proc. */
export const hasHandles = process.platform === 'linux'

/** The address of the folder itself; as good as its descriptor. */
export function addressOf(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`
}

export function entryOf(folder: FileHandle, name: string): string {
  return `${addressOf(folder)}/${name}`
}

/** ENOTDIR when it is a link or anything else that is no folder. */
export function enterFolder(address: string): Promise<FileHandle> {
  return open(address, flags)
}

/** Gives the service the rights to the folder that a program took from it. */
export function unlockFolder(folder: FileHandle): Promise<void> {
  return chmod(addressOf(folder), 0o700)
}
