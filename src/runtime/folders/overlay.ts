// One folder of files shown in many workspaces, each with changes of its own (overlayfs): nothing is copied at first.
import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../errors.ts'
import type { SharedFiles } from '../../ports/workspaces/checkouts.ts'
import { systemTools } from '../host/tool-shell.ts'
import { countMountsAt, unmount } from './mounts.ts'

/** They would end the path, or begin another option (mount(8), overlayfs of the kernel's documentation). */
const unsafeInOptions = /[:,\\"\s]/

/**
 * `redirect_dir`: folders of `files` can be renamed. `xino`: files keep their number when they are changed, and all seem
 * to be on one device.
 */
const usualOptions = ['nosuid', 'nodev', 'noatime', 'redirect_dir=on', 'xino=auto']

/**
 * Mounts `files` on `folder`, a file system of its own that keeps what is changed. `files` is never written to, and must
 * not change while it is shown.
 */
export async function mountOverlay(files: string, folder: string): Promise<void> {
  const [changes, work] = [join(folder, 'changes'), join(folder, 'work')]
  if (unsafeInOptions.test(files + folder)) throw new Error(`the path cannot be an option of a mount: ${files}`)
  await mkdir(changes, { mode: 0o700 })
  await mkdir(work, { mode: 0o700 })
  const places = [`lowerdir=${files}`, `upperdir=${changes}`, `workdir=${work}`]
  try {
    await systemTools.run('mount', ['-t', 'overlay', 'overlay', '-o', [...usualOptions, ...places].join(), folder])
  } catch (error) {
    for (const path of [changes, work]) await rm(path, { recursive: true, force: true })
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
      const kept = await readFile(join(scratch, 'file'), 'utf8')
      return kept === 'shared' ? undefined : 'changes of a workspace reach the files that it shares'
    } finally {
      await unmount(folder)
    }
  } catch (error) {
    return messageOf(error)
  } finally {
    await rm(scratch, { recursive: true, force: true })
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
