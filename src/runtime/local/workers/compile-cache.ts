// The compile cache of workers and runners: filled once by a trusted run without work, and read-only for them.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { onAbort } from '../../../lib/abort.ts'
import type { Clock, Ids } from '../../../lib/clock.ts'
import { removeTree } from '../../../lib/tree-removal.ts'
import { walkTree } from '../../../lib/tree-walk.ts'
import { makeWorkFolder } from '../../folders/work-folder.ts'
import { startWorkerProgram, type WorkerLauncherOptions } from './worker-launcher.ts'

type CompileCacheOptions = {
  launcher: WorkerLauncherOptions
  /** Folder for the caches of all versions; may be removed at any time. */
  folder: string
  /** A fresh name for the work folder of the warming run. */
  id: string
  /** Ends the run; Node itself loops forever when the folder is removed while it writes. */
  signal: AbortSignal
}

async function findNewestChange(folder: string): Promise<number> {
  let newest = 0
  for await (const { stats } of walkTree(folder)) if (stats?.isFile()) newest = Math.max(newest, stats.mtimeMs)
  return newest
}

/** A new Node or a changed source gives another folder, so a cache is either complete or absent. */
async function chooseFolder(options: Pick<CompileCacheOptions, 'launcher' | 'folder'>): Promise<string> {
  const { program } = options.launcher
  const parts = [process.version, program, await findNewestChange(dirname(program))]
  const version = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
  return join(options.folder, version)
}

async function isThere(folder: string): Promise<boolean> {
  return (await readdir(folder).catch(() => [])).length > 0
}

/** The program exits when its stdin ends, and Node writes the cache on the way out. */
async function runOnce(options: CompileCacheOptions, cache: string): Promise<boolean> {
  const launcher = { ...options.launcher, compileCache: cache }
  const folder = await makeWorkFolder(launcher.workFolder, options.id)
  try {
    const running = startWorkerProgram(
      launcher,
      { folder, group: undefined, cacheIsWritable: true },
      launcher.memoryBytes,
    )
    for (const stream of [running.stdout, running.stderr, running.report]) stream?.resume()
    running.stdin?.end()
    const exit = await running.exited.finally(onAbort(options.signal, () => void running.kill()))
    return exit.startError === undefined && exit.signal === null
  } finally {
    await removeTree(folder)
  }
}

const unfinished = '.unfinished'
/** No run takes that long: what is older was left by one that was killed. */
const maxRunMs = 3_600_000

async function isBeingFilled(folder: string): Promise<boolean> {
  if (!folder.endsWith(unfinished)) return false
  const changed = await stat(folder).catch(() => undefined)
  return changed !== undefined && Date.now() - changed.mtimeMs < maxRunMs
}

/** Those of other versions, but not what another service is filling. */
async function removeOthers(folder: string, current: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    if (other !== current && !(await isBeingFilled(other))) await removeTree(other)
  }
}

/** Another service may have been faster: its folder is as good. */
async function publishFolder(filled: string, folder: string): Promise<void> {
  await rename(filled, folder).catch(() => undefined)
  await removeTree(filled)
}

/** The folder of a filled cache, which is filled first if necessary; undefined when that fails. */
export async function fillCompileCache(options: CompileCacheOptions): Promise<string | undefined> {
  const folder = await chooseFolder(options)
  if (await isThere(folder)) return folder
  options.signal.throwIfAborted()
  // Filled beside its path: whoever finds a folder there can rely on it, whatever becomes of this run.
  const filling = `${folder}.${options.id}${unfinished}`
  await mkdir(filling, { recursive: true, mode: 0o700 })
  const isFilled = (await runOnce(options, filling)) && (await isThere(filling))
  if (!isFilled) {
    await removeTree(filling)
    return undefined
  }
  await publishFolder(filling, folder)
  await removeOthers(options.folder, folder)
  return (await isThere(folder)) ? folder : undefined
}

/** The folder if it is already filled; takes some milliseconds. */
export async function findCompileCache(
  options: Pick<CompileCacheOptions, 'launcher' | 'folder'>,
): Promise<string | undefined> {
  const folder = await chooseFolder(options)
  return (await isThere(folder)) ? folder : undefined
}

export type CachedLauncherOptions = {
  launcher: Omit<WorkerLauncherOptions, 'compileCache'>
  /** Folder of compile caches; without it every process compiles again. */
  cacheFolder: string | undefined
  clock: Clock
  ids: Ids
  /** Prefix of the names of what is started. */
  prefix: string
}

export type CachedLauncher = {
  /** With the compile cache, if there is one by now. */
  find(): Promise<WorkerLauncherOptions>
  /** Fills it, unless there is one, when the first process has come so far: it must neither wait for that nor compete with it. */
  fillAfter(started: Promise<unknown>): void
  close(): Promise<void>
}

const fillingMs = 30_000
/** Then the first attempt no longer needs the processor for itself. */
const fillAfterMs = 1000

export function createCachedLauncher(options: CachedLauncherOptions): CachedLauncher {
  const { cacheFolder: folder, clock, ids, prefix } = options
  const closing = new AbortController()
  let compileCache: string | undefined
  let finding: Promise<void> | undefined
  let filling: Promise<void> | undefined
  const launcher = (): WorkerLauncherOptions => ({ ...options.launcher, compileCache })

  async function findFirst(): Promise<void> {
    if (folder === undefined) return
    compileCache = await findCompileCache({ launcher: launcher(), folder }).catch(() => undefined)
  }

  async function fill(started: Promise<unknown>): Promise<void> {
    if (folder === undefined || compileCache !== undefined) return
    await started.catch(() => undefined)
    await clock.sleep(fillAfterMs, closing.signal).catch(() => undefined)
    if (closing.signal.aborted) return
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(fillingMs)])
    const parts = { launcher: launcher(), folder, id: ids.next(`${prefix}-cache`), signal }
    // Without a cache every start takes longer; nothing else changes.
    compileCache = await fillCompileCache(parts).catch(() => undefined)
  }

  return {
    async find() {
      finding ??= findFirst()
      await finding
      // Somebody may have removed it: nothing could start with it.
      if (compileCache !== undefined && !existsSync(compileCache)) compileCache = undefined
      return launcher()
    },
    fillAfter(started) {
      filling ??= fill(started)
    },
    async close() {
      closing.abort()
      await filling
    },
  }
}
