// The compile cache of the worker program: filled by a trusted run without work, read-only for all workers.
import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeWorkFolder, removeWorkFolder } from '../confinement/work-folder.ts'
import { startWorkerProgram, type WorkerLauncherOptions } from './worker-launcher.ts'

export type CompileCacheOptions = {
  launcher: WorkerLauncherOptions
  /** Folder for the caches of all versions; may be removed at any time. */
  folder: string
  /** A fresh name for the work folder of the warming run. */
  id: string
  /** Ends the run; Node itself loops forever when the folder is removed while it writes. */
  signal: AbortSignal
}

async function findNewestChange(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  const times = files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).mtimeMs)
  return Math.max(0, ...(await Promise.all(times)))
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
    const abort = () => void running.kill()
    options.signal.addEventListener('abort', abort, { once: true })
    const exit = await running.exited
    options.signal.removeEventListener('abort', abort)
    return exit.startError === undefined && exit.signal === null
  } finally {
    await removeWorkFolder(folder)
  }
}

const unfinished = '.unfinished'
/** No run takes that long: what is older was left by one that was killed. */
const longestRunMs = 3_600_000

async function isBeingFilled(folder: string): Promise<boolean> {
  if (!folder.endsWith(unfinished)) return false
  const changed = await stat(folder).catch(() => undefined)
  return changed !== undefined && Date.now() - changed.mtimeMs < longestRunMs
}

/** Those of other versions, but not what another service is filling. */
async function removeOthers(folder: string, kept: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const other = join(folder, name)
    if (other !== kept && !(await isBeingFilled(other))) await rm(other, { recursive: true, force: true })
  }
}

/** Another service may have been faster: its folder is as good. */
async function putInPlace(filled: string, folder: string): Promise<void> {
  await rename(filled, folder).catch(() => undefined)
  await rm(filled, { recursive: true, force: true })
}

/** The folder of a filled cache, which is filled first if necessary; undefined when that fails. */
export async function warmCompileCache(options: CompileCacheOptions): Promise<string | undefined> {
  const folder = await chooseFolder(options)
  if (await isThere(folder)) return folder
  options.signal.throwIfAborted()
  // Filled beside its place: whoever finds a folder there can rely on it, whatever becomes of this run.
  const filling = `${folder}.${options.id}${unfinished}`
  await mkdir(filling, { recursive: true, mode: 0o700 })
  const isFilled = (await runOnce(options, filling)) && (await isThere(filling))
  if (!isFilled) {
    await rm(filling, { recursive: true, force: true })
    return undefined
  }
  await putInPlace(filling, folder)
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
