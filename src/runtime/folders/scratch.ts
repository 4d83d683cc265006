// The Scratch port: a folder for each conversation, the service's own record of when it was last in use, and the quota
// of each owner.
import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { Scratch } from '../../ports/workspaces/sandbox.ts'
import { boundless, describeSize, measureFolder, type WorkspaceSize, watchFolder } from './size.ts'
import { defaultReserve, defaultSize, isDiskLow } from './workspaces.ts'

export type ScratchOptions = {
  /** The parent folder; created when missing. */
  root: string
  clock: Clock
  /** Limit for each folder; one that already exceeds it may not grow. */
  size?: WorkspaceSize
  /** Limit for all folders of one owner; default 8 GiB. */
  quota?: WorkspaceSize
  /** Free bytes on the disk below which nothing starts. */
  reserveBytes?: number
  /** A folder that nobody has held for this long is removed. Default one hour. */
  idleMs?: number
}

const defaultIdleMs = 3_600_000
export const defaultQuota: WorkspaceSize = { bytes: 8 * 1024 ** 3, files: 262_144 }

type ScratchFolders = Required<ScratchOptions> & {
  /** How many hold each folder. */
  holders: Map<string, number>
  removing: Map<string, Promise<void>>
  shares: Shares
  sweptAt: number
}

/**
 * A record is a folder around the one that programs see: they can change the times of theirs, but not of this one,
 * whose change time says when it was last in use.
 */
function recordOf({ root }: ScratchFolders, name: string): string {
  return join(root, name)
}

async function noteUse(folders: ScratchFolders, name: string): Promise<void> {
  const now = folders.clock.now()
  await utimes(recordOf(folders, name), now, now)
}

async function sweepOne(folders: ScratchFolders, name: string, oldest: number): Promise<void> {
  const { mtimeMs } = await lstat(recordOf(folders, name))
  // Nothing is awaited between this check and marking it as being removed.
  if (mtimeMs >= oldest || folders.holders.has(name)) return
  const removal = removeTree(recordOf(folders, name)).finally(() => folders.removing.delete(name))
  folders.removing.set(name, removal)
  await removal
}

async function sweep(folders: ScratchFolders, now: number): Promise<void> {
  for (const name of await readdir(folders.root).catch(() => [])) {
    // What cannot be removed now is left for the next time.
    await sweepOne(folders, name, now - folders.idleMs).catch(() => undefined)
  }
}

async function sweepNowAndThen(folders: ScratchFolders): Promise<void> {
  const now = folders.clock.now().getTime()
  if (now - folders.sweptAt <= folders.idleMs / 4) return
  folders.sweptAt = now
  await sweep(folders, now)
}

async function releaseFolder(folders: ScratchFolders, name: string): Promise<void> {
  await noteUse(folders, name).catch(() => undefined)
  const left = (folders.holders.get(name) ?? 1) - 1
  if (left > 0) folders.holders.set(name, left)
  else folders.holders.delete(name)
}

async function openFolder(folders: ScratchFolders, name: string): Promise<string> {
  await folders.removing.get(name)?.catch(() => undefined)
  const folder = join(recordOf(folders, name), 'files')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await noteUse(folders, name)
  return folder
}

/** Why nothing more can be written: shown to the model, which can remove files. */
function refuse(why: string): SvcError {
  return new SvcError('StorageFull', why)
}

async function requireRoom({ root, reserveBytes }: ScratchFolders): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  if (isDiskLow(root, reserveBytes))
    throw refuse('the disk has too little free space to start anything; try again later')
}

function describeQuota({ quota }: ScratchFolders): string {
  return `the scratch folders of this caller may hold no more than ${describeSize(quota)} together`
}

/** Aborts when the folder grows beyond its limit, or beyond what the owner's other folders leave to it. */
async function watchHold(folders: ScratchFolders, name: string, folder: string) {
  const { size, shares } = folders
  const full = new AbortController()
  await shares.look(ownerOf(name))
  const before = (await measureFolder(folder, boundless)) ?? size
  const left = () => shares.leftFor(name)
  if (before.files === 0 && (left().bytes <= 0 || left().files <= 0)) {
    throw refuse(`${describeQuota(folders)}; remove what earlier conversations left, or wait until it expires`)
  }
  const max = () => ({
    bytes: Math.max(before.bytes, Math.min(size.bytes, left().bytes)),
    files: Math.max(before.files, Math.min(size.files, left().files)),
  })
  const onOver = () => {
    const isQuota = left().bytes < size.bytes || left().files < size.files
    full.abort(refuse(isQuota ? describeQuota(folders) : `the workspace may hold no more than ${describeSize(size)}`))
  }
  const watch = watchFolder({ folder, max, onOver })
  shares.follow(name, () => watch.used() ?? before)
  const stop = () => {
    watch.stop()
    shares.leave(name)
  }
  return { full: full.signal, stop }
}

/** Owners share no folder, and an owner's folders can be told from those of others. */
function nameFolder(owner: string, parts: readonly string[]): string {
  const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32)
  return `${digest(owner)}-${digest(JSON.stringify([owner, ...parts]))}`
}

function openFolders(options: ScratchOptions): ScratchFolders {
  const { root, size = defaultSize, quota = defaultQuota } = options
  const holders = new Map<string, number>()
  return {
    ...options,
    size,
    quota,
    reserveBytes: options.reserveBytes ?? defaultReserve,
    idleMs: options.idleMs ?? defaultIdleMs,
    holders,
    removing: new Map(),
    shares: createShares({ root, quota, unreadable: size, isHeld: (name) => holders.has(name) }),
    sweptAt: Number.NEGATIVE_INFINITY,
  }
}

export function createScratch(options: ScratchOptions): Scratch {
  const folders = openFolders(options)
  return {
    async lease(owner, parts) {
      const name = nameFolder(owner, parts)
      folders.holders.set(name, (folders.holders.get(name) ?? 0) + 1)
      let ended: Promise<void> | undefined
      let stop = () => {}
      const release = () => {
        stop()
        ended ??= releaseFolder(folders, name)
        return ended
      }
      try {
        await sweepNowAndThen(folders)
        await requireRoom(folders)
        const folder = await openFolder(folders, name)
        const watch = await watchHold(folders, name, folder)
        stop = watch.stop
        return { folder, full: watch.full, release }
      } catch (error) {
        await release()
        throw error
      }
    },
  }
}

type SharesOptions = {
  /** The folder of records, whose names start with their owner's. */
  root: string
  /** Limit for all folders of one owner. */
  quota: WorkspaceSize
  /** The size assumed for an unreadable folder. */
  unreadable: WorkspaceSize
  isHeld(name: string): boolean
}

type Shares = {
  /** Counts the owner's folders of unknown size. */
  look(owner: string): Promise<void>
  /** What the owner's other folders leave to this one, as far as they have been counted. */
  leftFor(name: string): WorkspaceSize
  /** From now on `used` gives the folder's size. */
  follow(name: string, used: () => WorkspaceSize): void
  /** Nobody watches it there any more: it is counted again when needed. */
  leave(name: string): void
}

function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-') + 1)
}

function createShares({ root, quota, unreadable, isHeld }: SharesOptions): Shares {
  const sizes = new Map<string, () => WorkspaceSize>()
  const stale = new Set<string>()

  async function count(name: string): Promise<void> {
    const size = (await measureFolder(join(root, name, 'files'), boundless)) ?? unreadable
    sizes.set(name, () => size)
    if (!isHeld(name)) stale.delete(name)
  }

  function forget(name: string): void {
    sizes.delete(name)
    stale.delete(name)
  }

  return {
    async look(owner) {
      const present = new Set(await readdir(root))
      for (const name of sizes.keys()) if (!present.has(name)) forget(name)
      const isUnknown = (name: string) => !sizes.has(name) || stale.has(name)
      const names = [...present].filter((name) => ownerOf(name) === owner && isUnknown(name))
      for (const name of names) await count(name)
    },
    leftFor(name) {
      const left = { ...quota }
      for (const [other, used] of sizes) {
        if (other === name || ownerOf(other) !== ownerOf(name)) continue
        const { bytes, files } = used()
        left.bytes -= bytes
        left.files -= files
      }
      return left
    },
    follow: (name, used) => void sizes.set(name, used),
    leave: (name) => void stale.add(name),
  }
}
