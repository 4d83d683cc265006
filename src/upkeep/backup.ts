// `svc backup` and `svc restore`: all data of an embedded service in one folder, copied while the service runs.
import { chmodSync, constants, existsSync } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BackupNote } from '../client/machine.ts'
import type { Config } from '../config/load.ts'
import { SvcError } from '../errors.ts'
import { version } from '../launch/program-files.ts'
import { hasCode } from '../lib/error-code.ts'
import { describeFileError } from '../lib/file-error.ts'
import { makeFolder } from '../lib/new-folder.ts'
import { createEmbeddedLeadership } from '../store/local/leadership.ts'
import { copyDatabase, inspectSnapshot } from '../store/sqlite/snapshot.ts'

/** The version of a backup's layout. */
const format = 1

const names = { note: 'backup.json', database: 'svc.db', blobs: 'blobs', logs: 'logs', key: 'secret.key' }

const maxRounds = 10

type Manifest = BackupNote & { format: number; version: string }

/** A body is in a folder named after the last two letters of its name. */
function blobPath(folder: string, id: string): string {
  return join(folder, names.blobs, id.slice(-2), id)
}

/** False when the file is gone. */
async function copyOne(from: string, to: string): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  try {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Bodies never change, so existing copies are complete. Returns how many are gone from the service. */
async function copyBlobs(from: string, to: string, ids: string[]): Promise<number> {
  let missing = 0
  for (const id of ids) {
    const target = blobPath(to, id)
    if (!existsSync(target) && !(await copyOne(blobPath(from, id), target))) missing++
  }
  return missing
}

/**
 * A body is removed as soon as its row is, so one that the copied database refers to may be gone before it is copied.
 * Then the database is copied again; by then most bodies have been copied.
 */
async function copyStore(from: string, to: string) {
  for (let round = 0; round < maxRounds; round++) {
    const database = join(to, names.database)
    await rm(database, { force: true })
    await copyDatabase(join(from, names.database), database)
    const facts = inspectSnapshot(database)
    if ((await copyBlobs(from, to, facts.blobs)) === 0) return facts
  }
  throw new SvcError('Unavailable', 'the service removes records faster than they can be copied; try again later')
}

async function listFolder(folder: string) {
  return await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
}

/** Logs grow while they are copied; readers drop an incomplete last line. */
async function copyTree(from: string, to: string): Promise<void> {
  for (const entry of await listFolder(from)) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyTree(source, target)
    else if (entry.isFile()) await copyOne(source, target)
  }
}

export async function requireEmpty(folder: string, what: string): Promise<void> {
  try {
    makeFolder(folder, 0o700)
    if ((await readdir(folder)).length === 0) return
  } catch (error) {
    throw new SvcError('InvalidRequest', `${folder} cannot be used: ${describeFileError(error)}`)
  }
  throw new SvcError('Conflict', `${folder} is not empty; ${what}`)
}

export type BackupOptions = { withKey: boolean }

/** Makes a backup in a new or empty folder; the service may be running. NotFound when there is no store. */
export async function takeBackup(config: Config, target: string, { withKey }: BackupOptions): Promise<BackupNote> {
  const { dataDir, secretKeyFile } = config.paths
  if (!existsSync(join(dataDir, names.database)))
    throw new SvcError('NotFound', `there is no store in ${dataDir}; name its folder with --data-dir`)
  await requireEmpty(target, 'name a new folder for the backup')
  chmodSync(target, 0o700)
  const takenAt = new Date().toISOString()
  const { blobs, secrets } = await copyStore(dataDir, target)
  await copyTree(join(dataDir, names.logs), join(target, names.logs))
  if (withKey) await copyKey(secretKeyFile, join(target, names.key))
  const note: BackupNote = { takenAt, bodies: blobs.length, secrets, hasKey: withKey }
  await writeNote(target, note)
  return note
}

/** Written last: without it a backup is incomplete. */
export async function writeNote(folder: string, note: BackupNote): Promise<void> {
  const manifest: Manifest = { format, version, ...note }
  await writeFile(join(folder, names.note), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
}

async function copyKey(from: string, to: string): Promise<void> {
  if (!(await copyOne(from, to))) throw new SvcError('NotFound', `there is no secret key at ${from}`)
  chmodSync(to, 0o600)
}

export async function readManifest(folder: string): Promise<Manifest> {
  let manifest: Manifest
  try {
    manifest = JSON.parse(await readFile(join(folder, names.note), 'utf8')) as Manifest
  } catch (error) {
    throw new SvcError('InvalidRequest', `${folder} holds no whole backup: ${names.note}: ${describeFileError(error)}`)
  }
  if (manifest.format === format) return manifest
  throw new SvcError(
    'InvalidRequest',
    `${folder} was made by version ${manifest.version}, in a way that this one cannot read`,
  )
}

/** InvalidRequest for parts that are links, or nothing that can be copied: they may be somebody else's, and lead anywhere. */
async function requireParts(source: string): Promise<void> {
  for (const name of Object.values(names)) {
    const path = join(source, name)
    const stat = await lstat(path).catch(() => undefined)
    const isFolder = name === names.blobs || name === names.logs
    if (stat === undefined || (isFolder ? stat.isDirectory() : stat.isFile())) continue
    throw new SvcError(
      'InvalidRequest',
      `${path} is no ${isFolder ? 'folder' : 'file'} of a backup; copy the backup as it was made`,
    )
  }
}

/** Conflict when another key is in use: replacing it would make everything sealed with it unreadable. */
async function restoreKey(source: string, target: string): Promise<void> {
  if (!existsSync(target)) {
    makeFolder(dirname(target), 0o700)
    return await copyKey(source, target)
  }
  if ((await readFile(target)).equals(await readFile(source))) return
  const choice = 'name another place with --secret-key-file, or another folder with --config-dir'
  throw new SvcError('Conflict', `${target} is another key than the backup's; ${choice}`)
}

/** The database comes last, under its own name: before that the folder is not a store. */
async function restoreStore(source: string, dataDir: string): Promise<void> {
  for (const name of [names.blobs, names.logs]) await copyTree(join(source, name), join(dataDir, name))
  const partial = join(dataDir, `${names.database}.partial`)
  await copyOne(join(source, names.database), partial)
  chmodSync(partial, 0o600)
  await rename(partial, join(dataDir, names.database))
}

/** InvalidRequest when the folder is not a whole, sound backup of an embedded service. */
export async function requireBackup(source: string): Promise<BackupNote> {
  await requireParts(source)
  const manifest = await readManifest(source)
  if (manifest.cluster !== undefined)
    throw new SvcError('InvalidRequest', `${source} is the backup of a cluster: restore it there, with --cluster`)
  const { blobs } = inspectSnapshot(join(source, names.database))
  const lost = blobs.filter((id) => !existsSync(blobPath(source, id))).length
  if (lost > 0) throw new SvcError('InvalidRequest', `${source} is damaged: ${lost} of its bodies are missing`)
  return manifest
}

/**
 * Restores a backup into an empty data folder. InvalidRequest when the folder is not a backup or is damaged, Conflict
 * when the data folder is not empty or another key is in use.
 */
export async function restoreBackup(config: Config, source: string): Promise<BackupNote> {
  const { dataDir, secretKeyFile } = config.paths
  const manifest = await requireBackup(source)
  await requireEmpty(dataDir, 'name a new one with --data-dir, or put this one aside with --replace')
  const leadership = createEmbeddedLeadership({ dataDir })
  await leadership.acquire(new AbortController().signal)
  try {
    // Another restore, or a start, may have been in the folder until now.
    if (existsSync(join(dataDir, names.database)))
      throw new SvcError('Conflict', `${dataDir} has a store by now; name a new folder with --data-dir`)
    if (manifest.hasKey) await restoreKey(join(source, names.key), secretKeyFile)
    await restoreStore(source, dataDir)
  } finally {
    await leadership.release()
  }
  return manifest
}

/** Moves a data folder aside and returns its new path. The service that used it must have stopped. */
export async function putAside(config: Config): Promise<string | undefined> {
  const { dataDir } = config.paths
  if (!existsSync(dataDir)) return undefined
  const leadership = createEmbeddedLeadership({ dataDir })
  await leadership.acquire(new AbortController().signal)
  await leadership.release()
  const aside = `${dataDir}.replaced-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
  await rename(dataDir, aside)
  return aside
}
