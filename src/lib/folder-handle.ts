// Folders that strangers write to, accessed by descriptor where the system can: a link put in between leads nowhere else, and
// no path grows with the depth of a tree.
import { constants, existsSync } from 'node:fs'
import { lstat, open } from 'node:fs/promises'

/**
 * A descriptor that only names its file; works even for an unreadable folder (O_PATH of open(2), which Node does not
 * define).
 */
const nameOnly = 0o10000000
const flags = nameOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether folders are held by descriptor: the addresses are entries of Linux's /proc. */
export const hasHandles = process.platform === 'linux' && existsSync('/proc/self/fd')

/**
 * An entered folder. Names are bytes, and here each of them is one character, as with the encoding `latin1` of opendir: a name
 * that is no UTF-8 could not be found again otherwise.
 */
export type Folder = {
  /** Equivalent to the folder in calls of the system, until it is closed. */
  address: Buffer
  entry(name: string): Buffer
  close(): Promise<void>
}

function folderAt(address: Buffer, close: () => Promise<void>): Folder {
  return { address, entry: (name) => Buffer.concat([address, Buffer.from(`/${name}`, 'latin1')]), close }
}

/** ENOTDIR when it is a link or anything else that is not a folder. Without descriptors, one that is swapped in later is followed. */
export async function enterFolder(address: string | Buffer): Promise<Folder> {
  if (hasHandles) {
    const handle = await open(address, flags)
    return folderAt(Buffer.from(`/proc/self/fd/${handle.fd}`), () => handle.close())
  }
  if (!(await lstat(address)).isDirectory()) throw Object.assign(new Error('It is not a folder.'), { code: 'ENOTDIR' })
  return folderAt(Buffer.from(address), async () => undefined)
}
