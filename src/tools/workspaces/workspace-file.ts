// Files of the workspace by a model's path: resolved inside it, opened step by step so that no link swapped in between leads out
// of it, and what the system's errors mean to a model.
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises'
import { isAbsolute, join, sep } from 'node:path'
import { type ErrorReason, SvcError } from '../../errors.ts'
import { codeOf, hasCode } from '../../lib/error-code.ts'
import { relativeInside } from '../../lib/folder-path.ts'
import { normalizeInnerPath } from '../../lib/inner-path.ts'

/** The name by which models and code_exec know the workspace, wherever it is. */
const workspaceName = '/workspace'

const maxPathBytes = 4096

type Location = {
  /** The workspace's real path. */
  root: string
  /** From the root, without links, as far as it exists. */
  parts: string[]
  /** The path as shown to the model. */
  shown: string
}

/**
 * Resolves a relative path, or an absolute one inside the workspace (BUILT-026). Links are followed only as long as
 * they stay inside. Guarantees nothing about the moment when the file is opened later: see `openWorkspaceFolder`.
 */
export async function locateFile(workspaceRoot: string, path: string): Promise<Location> {
  refuseMalformed(path)
  const root = await realpath(workspaceRoot)
  const wanted = splitPath(path, [workspaceRoot, root, workspaceName])
  const { existing, missing } = await resolveExisting(root, wanted, path)
  const parts = [...relativeParts(root, existing, path), ...missing]
  if (parts.length === 0) throw new SvcError('InvalidRequest', `"${path}" is the workspace itself; name a file in it`)
  return { root, parts, shown: join(workspaceName, ...parts) }
}

function refuseMalformed(path: string): void {
  if (Buffer.byteLength(path) > maxPathBytes)
    throw new SvcError('InvalidRequest', `path is longer than ${maxPathBytes} bytes`)
  if (path.split('/').includes('..')) {
    throw new SvcError('Forbidden', `"${path}" must not contain ".."; use a path inside ${workspaceName}`)
  }
}

function splitPath(path: string, roots: string[]): string[] {
  if (!isAbsolute(path)) return toParts(path)
  const root = roots.find((candidate) => path === candidate || path.startsWith(`${candidate.replace(/\/$/, '')}/`))
  if (root === undefined) throw refuseOutside(path)
  return toParts(path.slice(root.length).replace(/^\/+/, ''))
}

function toParts(path: string): string[] {
  const inner = normalizeInnerPath(path)
  if (inner === undefined)
    throw new SvcError('InvalidRequest', `"${path}" must not contain "\\\\" or control characters; use another name`)
  return inner.split('/').filter((part) => part !== '')
}

/** The real path of the longest part that exists, and the names after it. */
async function resolveExisting(root: string, wanted: string[], path: string) {
  for (let count = wanted.length; count > 0; count -= 1) {
    try {
      return { existing: await realpath(join(root, ...wanted.slice(0, count))), missing: wanted.slice(count) }
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw explainFileError(error, path)
    }
  }
  return { existing: root, missing: wanted }
}

function relativeParts(root: string, existing: string, path: string): string[] {
  const inside = relativeInside(root, existing)
  if (inside === undefined) throw refuseOutside(path)
  return inside.split(sep).filter((part) => part !== '')
}

function refuseOutside(path: string): SvcError {
  return new SvcError(
    'Forbidden',
    `"${path}" is outside ${workspaceName}; only files inside it can be read and written`,
  )
}

export interface WorkspaceFolder {
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
export async function openWorkspaceFolder(root: string, parts: string[], create: boolean): Promise<WorkspaceFolder> {
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
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

async function refuseMoved(step: Step): Promise<void> {
  if ((await realpath(step.path)) === step.path) return
  await step.handle.close()
  throw new SvcError('Forbidden', 'the folder was replaced by a link while it was opened')
}

const meanings: Record<string, [ErrorReason, string]> = {
  ENOENT: ['NotFound', 'does not exist'],
  ENOTDIR: ['InvalidRequest', 'goes through something that is not a folder'],
  EISDIR: ['InvalidRequest', 'is a folder, not a file'],
  // O_NOFOLLOW: what was checked a moment ago has become a link.
  ELOOP: ['Forbidden', 'is or goes through a link that may not be followed'],
  ENAMETOOLONG: ['InvalidRequest', 'has a name that is too long'],
  EACCES: ['Forbidden', 'may not be accessed'],
  EPERM: ['Forbidden', 'may not be accessed'],
  EROFS: ['Forbidden', 'is on a read-only file system'],
  // Opening a FIFO without a reader, or a socket.
  ENXIO: ['InvalidRequest', 'is not a regular file'],
  ENOSPC: ['StorageFull', 'cannot be written: the disk is full'],
  EDQUOT: ['StorageFull', 'cannot be written: the disk quota is used up'],
}

export function explainFileError(error: unknown, path: string): SvcError {
  if (error instanceof SvcError) return error
  const code = codeOf(error) || 'unknown error'
  const [reason, meaning] = meanings[code] ?? ['Internal', `cannot be used (${code})`]
  return new SvcError(reason, `"${path.slice(0, 200)}" ${meaning}`, { cause: error })
}
