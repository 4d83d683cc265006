// Resolves a model's path inside the workspace, and refuses any other.
import { realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { SvcError } from '../../errors.ts'
import { explainFileError, fileErrorCode } from './file-error.ts'

/** The name by which models and code_exec know the workspace, wherever it is. */
const workspaceName = '/workspace'

const longestPath = 4096

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
 * they stay inside. Guarantees nothing about the moment when the file is opened later: see `openFolder`.
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
  if (path.includes('\0')) throw new SvcError('InvalidRequest', 'path must not contain NUL characters')
  if (Buffer.byteLength(path) > longestPath)
    throw new SvcError('InvalidRequest', `path is longer than ${longestPath} bytes`)
  if (path.split('/').includes('..')) {
    throw new SvcError('Forbidden', `"${path}" must not contain ".."; use a path inside ${workspaceName}`)
  }
}

function splitPath(path: string, roots: string[]): string[] {
  if (!isAbsolute(path)) return cleanParts(path)
  const root = roots.find((candidate) => path === candidate || path.startsWith(`${candidate.replace(/\/$/, '')}/`))
  if (root === undefined) throw refuseOutside(path)
  return cleanParts(path.slice(root.length))
}

function cleanParts(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

/** The real path of the longest part that exists, and the names after it. */
async function resolveExisting(root: string, wanted: string[], path: string) {
  for (let count = wanted.length; count > 0; count -= 1) {
    try {
      return { existing: await realpath(join(root, ...wanted.slice(0, count))), missing: wanted.slice(count) }
    } catch (error) {
      if (fileErrorCode(error) !== 'ENOENT') throw explainFileError(error, path)
    }
  }
  return { existing: root, missing: wanted }
}

function relativeParts(root: string, existing: string, path: string): string[] {
  const inside = relative(root, existing)
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) throw refuseOutside(path)
  return inside === '' ? [] : inside.split(sep)
}

function refuseOutside(path: string): SvcError {
  return new SvcError(
    'Forbidden',
    `"${path}" is outside ${workspaceName}; only files inside it can be read and written`,
  )
}
