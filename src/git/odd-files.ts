// What a program left under the names of the files that git itself reads in a work tree, and that cannot be read.
import { lstat, readdir, unlink } from 'node:fs/promises'
import { CheckoutError } from '../ports/workspaces/checkouts.ts'

const namesRead = new Set(['.gitignore', '.gitattributes'])
/** Git holds them in memory. Attributes beyond this size it passes over itself. */
const mostBytes = 100 * 1024 ** 2

/** Paths here are latin1: names need not be UTF-8. */
const pathOf = (path: string) => Buffer.from(path, 'latin1')

async function clearFile(path: string): Promise<void> {
  const stats = await lstat(pathOf(path)).catch(() => undefined)
  // Git does not follow a link of these names.
  if (stats === undefined || stats.isSymbolicLink() || stats.isDirectory()) return
  if (!stats.isFile()) return await unlink(pathOf(path))
  if (stats.size <= mostBytes) return
  const message = `A .gitignore or .gitattributes has ${stats.size} bytes, more than the ${mostBytes} that are read. Make it smaller.`
  throw new CheckoutError('TooLarge', message)
}

async function clearFolder(folder: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const options = { withFileTypes: true, encoding: 'latin1' } as const
  // What cannot be listed git cannot read either.
  for (const entry of await readdir(pathOf(folder), options).catch(() => [])) {
    const path = `${folder}/${entry.name}`
    if (namesRead.has(entry.name.toLowerCase())) await clearFile(path)
    else if (entry.isDirectory() && entry.name !== '.git') await clearFolder(path, signal)
  }
}

/** Removes pipes, sockets and devices of these names: git would wait at a pipe for ever, and commits none of them. */
export async function clearOddFiles(folder: string, signal: AbortSignal): Promise<void> {
  await clearFolder(Buffer.from(folder).toString('latin1'), signal)
}
