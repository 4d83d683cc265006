// The files of a local folder that a task may be given: bounded, without what tools can recreate.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inputLimits } from '../../contract/api/tasks/internal.ts'
import { ArtifactPath } from '../../contract/api/tasks/task-records.ts'
import { isPassedOver, keepNewPaths } from '../../contract/values/carried-folders.ts'
import { SvcError } from '../../errors.ts'
import { describeBytes } from '../../lib/bytes.ts'

export type FolderFile = { path: string; size: number }

export type FolderListing = {
  files: FolderFile[]
  /** What is left out, in words: `node_modules/ (made again by tools)`. */
  leftOut: string[]
}

type Found = { paths: string[]; leftOut: string[] }

const runFile = promisify(execFile)

/** Files with these names contain keys and passwords; --file sends one anyway. */
const secretName = /^\.env(\..+)?$/

/** InvalidRequest when there is more than a task may be given. */
export async function listFolder(folder: string): Promise<FolderListing> {
  const found = (await listByGit(folder)) ?? (await listByWalking(folder))
  const listing: FolderListing = { files: [], leftOut: found.leftOut }
  for (const path of found.paths.sort()) {
    const problem = await addFile(listing, folder, path)
    if (problem !== undefined) listing.leftOut.push(`${path} (${problem})`)
  }
  refuseTooMuch(listing.files)
  return listing
}

/** Why the file is left out; undefined when it was added. */
async function addFile({ files }: FolderListing, folder: string, path: string): Promise<string | undefined> {
  const name = path.split('/').at(-1) ?? ''
  if (secretName.test(name)) return 'may contain secrets; --file sends it anyway'
  if (!ArtifactPath.safeParse(path).success) return 'its name is not a valid file name'
  const stat = await lstat(join(folder, path)).catch(() => undefined)
  // Git also lists files that have been removed since.
  if (stat === undefined) return undefined
  if (!stat.isFile()) return 'a link, or not a regular file'
  if (stat.size > inputLimits.fileBytes) return `larger than ${describeBytes(inputLimits.fileBytes)}`
  files.push({ path, size: stat.size })
  return undefined
}

function refuseTooMuch(files: FolderFile[]): void {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (files.length <= inputLimits.files && bytes <= inputLimits.bytes) return
  const limit = `${inputLimits.files} files and ${describeBytes(inputLimits.bytes)}`
  throw new SvcError(
    'InvalidRequest',
    `this folder has ${files.length} files with ${describeBytes(bytes)}, and a task can be given at most ${limit}: ` +
      'change to a subfolder, or name the needed files with --file',
  )
}

/**
 * Everything that is or would be committed, without what `.gitignore` excludes. Undefined without Git or a work tree.
 */
async function listByGit(folder: string): Promise<Found | undefined> {
  try {
    const options = { cwd: folder, maxBuffer: 64 * 1024 ** 2 }
    const list = async (args: string[]) => {
      const { stdout } = await runFile('git', ['ls-files', '-z', ...args, '--', '.'], options)
      return [...new Set(stdout.split('\0').filter(Boolean))]
    }
    const [tracked, added] = await Promise.all([list(['--cached']), list(['--others', '--exclude-standard'])])
    const { paths, leftOut } = keepNewPaths(added, tracked)
    const folders = leftOut.map((folder) => `${folder}/`)
    return {
      paths: [...new Set([...tracked, ...paths])],
      leftOut: ['files excluded by .gitignore', '.git/', ...folders],
    }
  } catch {
    return undefined
  }
}

async function listByWalking(folder: string): Promise<Found> {
  const found: Found = { paths: [], leftOut: [] }
  await walk(folder, '', found)
  return found
}

/** Beyond this there are too many anyway. */
const maxPaths = 10 * inputLimits.files

async function walk(folder: string, above: string, found: Found): Promise<void> {
  const entries = await readdir(join(folder, above), { withFileTypes: true })
  const names = new Set(entries.map(({ name }) => name))
  for (const entry of entries) {
    const path = `${above}${entry.name}`
    if (found.paths.length > maxPaths) return
    if (!entry.isDirectory()) found.paths.push(path)
    else if (isPassedOver(entry.name, (name) => names.has(name))) found.leftOut.push(`${path}/`)
    else await walk(folder, `${path}/`, found)
  }
}

/** Identifies the content of a file; undefined when the file does not exist. */
export async function digestOf(path: string): Promise<string | undefined> {
  const bytes = await readFile(path).catch(() => undefined)
  return bytes && digestOfBytes(bytes)
}

export function digestOfBytes(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** No name begins with `:`, which has a meaning to git. */
const here = './'

/** Those that `.gitignore` excludes, of a checkout; none elsewhere. Files that git knows are not excluded. */
export async function findIgnored(folder: string, paths: string[]): Promise<ReadonlySet<string>> {
  const stdout = await new Promise<string>((resolve) => {
    const options = { cwd: folder, maxBuffer: 64 * 1024 ** 2 }
    // Its exit code says whether there are any.
    const child = execFile('git', ['check-ignore', '-z', '--stdin'], options, (_error, output) => resolve(output))
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(paths.map((path) => `${here}${path}\0`).join(''))
  })
  const found = stdout.split('\0').filter(Boolean)
  return new Set(found.map((path) => path.slice(here.length)))
}
