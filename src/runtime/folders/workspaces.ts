// Folders of attempts: each limited in size by the best means that this machine has, and removed completely.
import { mkdirSync, realpathSync, statfsSync } from 'node:fs'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../errors.ts'
import { clearFolder, removeTree } from '../../lib/tree-removal.ts'
import type { WorkloadLimits } from '../../ports/tasks/workloads.ts'
import type { SharedFiles } from '../../ports/workspaces/checkouts.ts'
import {
  createSharedFiles,
  findMountProblem,
  findOverlayProblem,
  isImageFull,
  listMountsIn,
  mountImage,
  unmount,
  unmountAll,
} from './mounts.ts'
import { boundless, describeSize, type FolderWatch, measureFolder, type WorkspaceSize, watchFolder } from './size.ts'

export type AttemptWorkspace = {
  folder: string
  /** Starts to watch what is written; `end` is called once, when the program in it must end. */
  guard(end: () => void): void
  /**
   * The message for an attempt that failed because its workspace was full; undefined when it was not. Ask before it is
   * removed.
   */
  explainFull(): Promise<string | undefined>
  remove(): Promise<void>
}

/**
 * How sizes are limited: by separate file systems, or by watching. `unshared`: why each workspace gets copies of files
 * that others have as well; absent: it does not.
 */
export type SizeLayer = { kind: 'image'; unshared?: string } | { kind: 'watch'; why: string }

/** What an attempt asks for; absent: the usual size. */
export type AskedSize = Pick<WorkloadLimits, 'diskBytes' | 'diskFiles'>

export type Workspaces = {
  open(id: string, wanted?: AskedSize): Promise<AttemptWorkspace>
  /** One that programs of others see as well, such as a container engine: what this process mounts they do not. */
  openForOthers(id: string, wanted?: AskedSize): Promise<AttemptWorkspace>
  /** Shows files that never change in workspaces of this kind, without copies of them. */
  shared: SharedFiles
  size: WorkspaceSize
  /** The usual size of one that holds a git repository. */
  checkoutSize: WorkspaceSize
  /** Whether the disk has enough free space to start something new. */
  hasRoom(): boolean
  layer(): Promise<SizeLayer>
  /** Removes what earlier runs of the service left. */
  clear(): Promise<void>
}

export type WorkspacesOptions = {
  /** The parent folder; created when missing. */
  root: string
  size: WorkspaceSize
  /** Of one that holds a git repository. Default: 10 GiB and 1 Mi files. */
  checkoutSize?: WorkspaceSize
  /** Free bytes on the disk that workspaces may not use. */
  reserveBytes?: number
  /** Known answers; tried when absent. */
  layer?: SizeLayer
}

export const defaultSize: WorkspaceSize = { bytes: 2 * 1024 ** 3, files: 65_536 }
const defaultCheckoutSize: WorkspaceSize = { bytes: 10 * 1024 ** 3, files: 1024 ** 2 }
export const defaultReserve = 1024 ** 3

/** On a small disk less is kept free than configured. */
const maxReserveShare = 0.05

function readDisk(folder: string): { free: number; total: number } {
  const { bavail, bsize, blocks } = statfsSync(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}

/** Whether less than the required space is free, or less than a given part of it. */
export function isDiskLow(folder: string, reserveBytes: number, part = 1): boolean {
  const { free, total } = readDisk(folder)
  return free < Math.min(reserveBytes, total * maxReserveShare) * part
}

const probeSize: WorkspaceSize = { bytes: 8 * 1024 ** 2, files: 64 }

/** Why files cannot be shared in an image, where one can be made at all. */
async function tryImage(root: string): Promise<string | undefined> {
  const folder = join(root, 'probe')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  try {
    await mountImage(`${folder}.image`, folder, probeSize)
    const problem = await findOverlayProblem(folder, `${folder}.shared`)
    await unmount(folder)
    return problem
  } finally {
    await rm(`${folder}.image`, { force: true })
    await removeTree(folder)
  }
}

/** Finds out what the machine allows by trying it once on a small scale. */
export async function findSizeLayer(root: string): Promise<SizeLayer> {
  const problem = findMountProblem()
  if (problem !== undefined) return { kind: 'watch', why: problem }
  try {
    const unshared = await tryImage(root)
    return { kind: 'image', ...(unshared !== undefined && { unshared }) }
  } catch (error) {
    return { kind: 'watch', why: messageOf(error) }
  }
}

/** A running one, for choosing which to end when the disk is nearly full. */
type Guarded = { used(): Promise<number>; end(why: string): void }

const guardMs = 250
/** Below this part of the required free space, one is ended. */
const dangerPart = 0.5
/** An ended one releases its space within this time. */
const coolDownMs = 3000

/** One timer for all: ends the largest when too little space is left for the store. */
function createDiskGuard(root: string, reserveBytes: number) {
  const guarded = new Set<Guarded>()
  let timer: NodeJS.Timeout | undefined
  let coolDownUntil = 0

  async function endLargest(): Promise<void> {
    const all = await Promise.all([...guarded].map(async (one) => ({ one, used: await one.used().catch(() => 0) })))
    const biggest = all.reduce((best, next) => (next.used > best.used ? next : best), { one: undefined, used: -1 } as {
      one: Guarded | undefined
      used: number
    })
    if (biggest.one === undefined) return
    guarded.delete(biggest.one)
    biggest.one.end('the disk of the service is nearly full, and this attempt had written the most')
  }

  function look(): void {
    if (performance.now() < coolDownUntil || !isDiskLow(root, reserveBytes, dangerPart)) return
    coolDownUntil = performance.now() + coolDownMs
    void endLargest()
  }

  function leave(one: Guarded): void {
    guarded.delete(one)
    if (guarded.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    enter(one: Guarded): () => void {
      guarded.add(one)
      timer ??= setInterval(look, guardMs).unref()
      return () => leave(one)
    },
  }
}

type Parts = WorkspacesOptions & { guards: ReturnType<typeof createDiskGuard>; reserveBytes: number }

/** How one of them is kept within its limit. */
type SizeLimiter = {
  watch(onOver: () => void): FolderWatch | undefined
  isFull(): Promise<boolean>
  /** Its current size, for choosing which to end: a fast writer is far beyond the last count. */
  used(): Promise<number>
  end(): Promise<void>
}

function limitByWatching(folder: string, max: WorkspaceSize): SizeLimiter {
  return {
    watch: (onOver) => watchFolder({ folder, max: () => max, onOver }),
    isFull: async () => false,
    used: async () => (await measureFolder(folder, boundless))?.bytes ?? max.bytes,
    end: async () => undefined,
  }
}

async function limitByImage(folder: string, size: WorkspaceSize): Promise<SizeLimiter> {
  const file = `${folder}.image`
  await mountImage(file, folder, size)
  return {
    watch: () => undefined,
    isFull: () => isImageFull(folder),
    used: async () => (await stat(file)).blocks * 512,
    end: async () => {
      await unmountAll(folder)
      await rm(file, { force: true })
    },
  }
}

/** A mount that fails now (no loop device is free) must not stop the work. */
async function limitSize(folder: string, size: WorkspaceSize, layer: SizeLayer): Promise<SizeLimiter> {
  if (layer.kind === 'watch') return limitByWatching(folder, size)
  return await limitByImage(folder, size).catch(async () => {
    await rm(`${folder}.image`, { force: true })
    return limitByWatching(folder, size)
  })
}

function openWorkspace(
  parts: Parts,
  opened: { folder: string; size: WorkspaceSize; limiter: SizeLimiter },
): AttemptWorkspace {
  const { folder, size, limiter } = opened
  const tooMuch = `more than ${describeSize(size)} in its workspace`
  let watch: FolderWatch | undefined
  let leave: (() => void) | undefined
  let ended: string | undefined
  const endGuard = () => {
    watch?.stop()
    leave?.()
  }
  return {
    folder,
    guard(end) {
      const endBecause = (why: string) => {
        ended ??= why
        end()
      }
      watch = limiter.watch(() => endBecause(`it wrote ${tooMuch}`))
      leave = parts.guards.enter({ used: limiter.used, end: endBecause })
    },
    async explainFull() {
      if (ended !== undefined) return ended
      return (await limiter.isFull().catch(() => false)) ? `it wrote ${tooMuch}` : undefined
    },
    async remove() {
      endGuard()
      await limiter.end()
      await removeTree(folder)
    },
  }
}

const seenByAll: SizeLayer = { kind: 'watch', why: 'others see it' }

async function openIn(
  parts: Parts,
  wanted: WorkspaceSize & { id: string },
  layer: SizeLayer,
): Promise<AttemptWorkspace> {
  const { id, ...size } = wanted
  const folder = join(parts.root, id)
  await mkdir(folder, { mode: 0o700 })
  const real = realpathSync(folder)
  try {
    return openWorkspace(parts, { folder: real, size, limiter: await limitSize(real, size, layer) })
  } catch (error) {
    await removeTree(real)
    throw error
  }
}

export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  const { root, size, checkoutSize = defaultCheckoutSize, reserveBytes = defaultReserve } = options
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const parts: Parts = { ...options, reserveBytes, guards: createDiskGuard(root, reserveBytes) }
  let found: Promise<SizeLayer> | undefined
  const layer = () => {
    found ??= options.layer === undefined ? findSizeLayer(root) : Promise.resolve(options.layer)
    return found
  }
  const sizeOf = ({ diskBytes = size.bytes, diskFiles = size.files }: AskedSize = {}) => ({
    bytes: diskBytes,
    files: diskFiles,
  })
  const canShare = async () => {
    const found = await layer()
    return found.kind === 'image' && found.unshared === undefined
  }
  return {
    size,
    checkoutSize,
    layer,
    shared: createSharedFiles(canShare),
    hasRoom: () => !isDiskLow(root, reserveBytes),
    open: async (id, wanted) => await openIn(parts, { id, ...sizeOf(wanted) }, await layer()),
    openForOthers: (id, wanted) => openIn(parts, { id, ...sizeOf(wanted) }, seenByAll),
    async clear() {
      for (const point of listMountsIn(root)) await unmount(point).catch(() => undefined)
      await clearFolder(root)
    },
  }
}
