// The Scratch port: a folder for each conversation, the service's own record of when it was last in use, and the quota
// of each owner.
import { createHash } from 'node:crypto'
import { lstat, mkdir, readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Once, once } from '../../lib/once.ts'
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
  shares: ReturnType<typeof createShares>
  sweptAt: number
  makeRoot: Once<unknown>
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
  const removal = removeTree(recordOf(folders, name))
    .then(() => folders.shares.forget(name))
    .finally(() => folders.removing.delete(name))
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

type OpenedFolder = {
  folder: string
  /** There is nothing in it. */
  isNew: boolean
}

async function openFolder(folders: ScratchFolders, name: string): Promise<OpenedFolder> {
  await folders.removing.get(name)?.catch(() => undefined)
  const folder = join(recordOf(folders, name), 'files')
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  await noteUse(folders, name)
  return { folder, isNew: made !== undefined }
}

/** Why nothing more can be written: shown to the model, which can remove files. */
function refuse(why: string): SvcError {
  return new SvcError('StorageFull', why)
}

async function requireRoom({ root, reserveBytes, makeRoot }: ScratchFolders): Promise<void> {
  await makeRoot()
  if (isDiskLow(root, reserveBytes))
    throw refuse('the disk has too little free space to start anything; try again later')
}

function describeQuota({ quota }: ScratchFolders): string {
  return `the scratch folders of this caller may hold no more than ${describeSize(quota)} together`
}

/** Aborts when the folder grows beyond its limit, or beyond what the owner's other folders leave to it. */
async function watchHold(folders: ScratchFolders, name: string, { folder, isNew }: OpenedFolder) {
  const { size, shares } = folders
  const full = new AbortController()
  const share = await shares.of(name)
  await share.look()
  const before = isNew ? nothing : ((await measureFolder(folder, boundless)) ?? size)
  const left = () => share.leftFor(name)
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
  const leave = share.follow(name, watch.used)
  const stop = () => {
    watch.stop()
    leave()
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
    shares: createShares({
      root,
      quota,
      unreadable: size,
      isHeld: (owner) => [...holders.keys()].some((name) => ownerOf(name) === owner),
    }),
    sweptAt: Number.NEGATIVE_INFINITY,
    makeRoot: once(() => mkdir(root, { recursive: true, mode: 0o700 })),
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
      const end = () => {
        stop()
        return releaseFolder(folders, name)
      }
      const release = () => {
        ended ??= end()
        return ended
      }
      try {
        await sweepNowAndThen(folders)
        await requireRoom(folders)
        const opened = await openFolder(folders, name)
        const watch = await watchHold(folders, name, opened)
        stop = watch.stop
        return { folder: opened.folder, full: watch.full, release }
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
  /** Whether somebody holds a folder of the owner, or is about to. */
  isHeld(owner: string): boolean
}

type Used = () => WorkspaceSize | undefined

/** What the folders of one owner hold. A folder is counted once after each time that it was held, however many ask. */
type Share = {
  /** Counts the folders of unknown size. */
  look(): Promise<void>
  /** What the owner's other folders leave to this one, as far as they have been counted. */
  leftFor(name: string): WorkspaceSize
  /** Until the function that is returned is called, `used` gives the folder's size, where it knows it. */
  follow(name: string, used: Used): () => void
  /** It is there no more. Whether none is left. */
  forget(name: string): boolean
}

function ownerOf(name: string): string {
  return name.slice(0, name.indexOf('-') + 1)
}

function addTo(sum: WorkspaceSize, { bytes, files }: WorkspaceSize, sign: 1 | -1): void {
  sum.bytes += sign * bytes
  sum.files += sign * files
}

const nothing: WorkspaceSize = { bytes: 0, files: 0 }

/** `names`: the folders that are there. */
function createShare({ root, quota, unreadable }: SharesOptions, names: readonly string[]): Share {
  const sizes = new Map(names.map((name) => [name, nothing]))
  const stale = new Set(names)
  const inUse = new Map<string, Used[]>()
  /** Of all in `sizes`: an owner can have thousands of folders, of which few are held. */
  const sum = { ...nothing }
  let counting = Promise.resolve()

  const sizeOf = (name: string) => sizes.get(name) ?? nothing

  function setSize(name: string, size: WorkspaceSize): void {
    addTo(sum, sizeOf(name), -1)
    addTo(sum, size, 1)
    sizes.set(name, size)
  }

  async function countStale(): Promise<void> {
    for (const name of [...stale]) {
      stale.delete(name)
      const size = await measureFolder(join(root, name, 'files'), boundless).catch(() => undefined)
      if (sizes.has(name)) setSize(name, size ?? unreadable)
    }
  }

  function release(name: string, used: Used): void {
    const others = (inUse.get(name) ?? []).filter((other) => other !== used)
    setSize(name, used() ?? sizeOf(name))
    stale.add(name)
    if (others.length > 0) inUse.set(name, others)
    else inUse.delete(name)
  }

  return {
    look() {
      counting = counting.then(countStale)
      return counting
    },
    leftFor(name) {
      const left = { ...quota }
      addTo(left, sum, -1)
      addTo(left, sizeOf(name), 1)
      for (const [other, uses] of inUse) {
        if (other === name) continue
        addTo(left, sizeOf(other), 1)
        addTo(left, uses.at(-1)?.() ?? sizeOf(other), -1)
      }
      return left
    },
    follow(name, used) {
      inUse.set(name, [...(inUse.get(name) ?? []), used])
      return () => release(name, used)
    },
    forget(name) {
      setSize(name, nothing)
      sizes.delete(name)
      stale.delete(name)
      return sizes.size === 0
    },
  }
}

/** The share of each owner that has held a folder; what is there already is found when the owner comes first. */
function createShares(options: SharesOptions) {
  const shares = new Map<string, Promise<Share>>()

  async function open(owner: string): Promise<Share> {
    const names = await readdir(options.root)
    return createShare(
      options,
      names.filter((name) => ownerOf(name) === owner),
    )
  }

  return {
    of(name: string): Promise<Share> {
      const owner = ownerOf(name)
      const opened = shares.get(owner) ?? open(owner)
      shares.set(owner, opened)
      opened.catch(() => shares.delete(owner))
      return opened
    },
    async forget(name: string): Promise<void> {
      const owner = ownerOf(name)
      const share = await shares.get(owner)
      if (share?.forget(name) && !options.isHeld(owner)) shares.delete(owner)
    },
  }
}
