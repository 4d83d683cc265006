// Folders that git works from (GIT_DIR), made without a program: the private one of a checkout, and the agent's own.
import { constants } from 'node:fs'
import { copyFile, link, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../lib/error-code.ts'

/** No attribute of a repository converts files, names a program, or hides what changed in a file. */
const attributes = '* !filter !diff !merge !working-tree-encoding !export-subst\n'
const binaryAttributes = `${attributes}* -diff\n`

/** Shows every file as a binary one while `work` runs. */
export async function showingBinary<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const file = join(folder, 'info', 'attributes')
  await writeFile(file, binaryAttributes)
  try {
    return await work()
  } finally {
    await writeFile(file, attributes)
  }
}

export type GitFolder = {
  /** What HEAD is: a branch, or a commit. */
  head: { branch: string } | { commit: string }
  /** Full names. */
  references?: Record<string, string>
  /** Commits whose parents were not fetched. */
  shallow?: string[]
  /** Lines of the configuration, beyond those that every repository has. */
  config?: string[]
}

const defaultConfig = ['[core]', '\trepositoryformatversion = 0', '\tfilemode = true', '\tbare = false']

function writeHead(head: GitFolder['head']): string {
  return 'branch' in head ? `ref: refs/heads/${head.branch}\n` : `${head.commit}\n`
}

async function writeReference(folder: string, name: string, commit: string): Promise<void> {
  const file = join(folder, name)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, `${commit}\n`)
}

/** Makes a repository without objects. Names of references are checked before (`checkName`). */
export async function makeGitFolder(folder: string, content: GitFolder): Promise<void> {
  const { head, references = {}, shallow = [], config = [] } = content
  const folders = ['objects/pack', 'objects/info', 'refs/heads', 'refs/tags', 'info']
  await Promise.all(folders.map((name) => mkdir(join(folder, name), { recursive: true })))
  await Promise.all([
    writeFile(join(folder, 'HEAD'), writeHead(head)),
    writeFile(join(folder, 'config'), `${[...defaultConfig, ...config].join('\n')}\n`),
    writeFile(join(folder, 'info', 'attributes'), attributes),
    shallow.length > 0 ? writeFile(join(folder, 'shallow'), `${shallow.join('\n')}\n`) : undefined,
    ...Object.entries(references).map(([name, commit]) => writeReference(folder, name, commit)),
  ])
}

export const packsOf = (folder: string) => join(folder, 'objects', 'pack')

type TransferFile = (from: string, to: string) => Promise<void>

/** The same file under another name: for folders that no program of others reaches. */
export const linkFile: TransferFile = (from, to) => link(from, to)

/** A copy that may be written to; without copying, where the file system can. */
export const copyPack: TransferFile = (from, to) => copyFile(from, to, constants.COPYFILE_FICLONE)

/** Puts every pack of one folder into another; an index last, as git looks for it. False: one has disappeared. */
export async function transferPacks(from: string, to: string, transfer: TransferFile): Promise<boolean> {
  try {
    const names = await readdir(from)
    const bases = names.filter((name) => name.endsWith('.idx')).map((name) => name.slice(0, -4))
    for (const base of bases) {
      for (const end of ['.pack', '.rev', '.idx']) {
        if (!names.includes(base + end)) continue
        await transfer(join(from, base + end), join(to, base + end)).catch((error: unknown) => {
          if (!hasCode(error, 'EEXIST')) throw error
        })
      }
    }
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
