// Opens folders of the workspace step by step, so that no link swapped in between leads out of it.
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { SvcError } from '../../errors.ts'
import { fileErrorCode } from './file-error.ts'

export interface Folder {
  /** Path of an entry, valid while the folder is open. */
  pathOf(name: string): string
  close(): Promise<void>
}

type Step = { handle: FileHandle; path: string }

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Node has no openat: on Linux the entry's path below /proc/self/fd is equivalent. Elsewhere it is the plain path. */
function addressOf(step: Step, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${step.handle.fd}/${name}` : join(step.path, name)
}

/** Opens root/parts..., following no links in any component; creates missing folders when `create` is set. */
export async function openFolder(root: string, parts: string[], create: boolean): Promise<Folder> {
  let step: Step = { handle: await open(root, flags), path: root }
  for (const part of parts) {
    const parent = step
    try {
      step = await enterFolder(parent, part, create)
    } finally {
      await parent.handle.close()
    }
  }
  if (process.platform !== 'linux') await refuseMoved(step)
  const opened = step
  return { pathOf: (name) => addressOf(opened, name), close: () => opened.handle.close() }
}

async function enterFolder(parent: Step, name: string, create: boolean): Promise<Step> {
  const address = addressOf(parent, name)
  if (create) await makeFolder(address)
  return { handle: await open(address, flags), path: join(parent.path, name) }
}

async function makeFolder(address: string): Promise<void> {
  try {
    await mkdir(address)
  } catch (error) {
    if (fileErrorCode(error) !== 'EEXIST') throw error
  }
}

async function refuseMoved(step: Step): Promise<void> {
  if ((await realpath(step.path)) === step.path) return
  await step.handle.close()
  throw new SvcError('Forbidden', 'the folder was replaced by a link while it was opened')
}
