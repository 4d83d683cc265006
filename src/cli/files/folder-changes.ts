// What a task changed in the files that it was given: shown, and applied here on request.
import { chmod, lstat, mkdir, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Client } from '../../client/client.ts'
import { WorkspaceChanges, workspaceChangesName } from '../../contract/api/tasks/internal.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import type { CliContext } from '../context.ts'
import { targetOfTask } from '../follow/follow.ts'
import { formatSize } from '../output/output.ts'
import { isOfGit, listFiles, localPathOf, openFile } from './artifact-files.ts'
import { digestOf, findIgnored } from './folder-files.ts'

export type FolderChange = {
  path: string
  /** Added, modified or deleted. */
  mark: 'A' | 'M' | 'D'
  /** Absent for a deleted file. */
  content?: Buffer
}

export type Given = { folder: string; digests: ReadonlyMap<string, string> }

export type FoundChanges = {
  /** By path. */
  changes: FolderChange[]
  /** New files that `.gitignore` excludes here: what tools made, as a rule. */
  ignored: string[]
}

/** The differences from the files that were given. */
export async function findChanges(client: Client, task: Task, given: Given): Promise<FoundChanges> {
  const found = await readChanges(client, task, given)
  const added = found.filter(({ mark }) => mark === 'A').map(({ path }) => path)
  const ignored = added.length === 0 ? new Set() : await findIgnored(given.folder, added)
  return {
    changes: found.filter(({ path }) => !ignored.has(path)),
    ignored: added.filter((path) => ignored.has(path)),
  }
}

async function readChanges(client: Client, task: Task, { digests }: Given): Promise<FolderChange[]> {
  const target = targetOfTask(task)
  const markOf = (path: string) => (digests.has(path) ? 'M' : 'A')
  const changes: FolderChange[] = []
  let said: WorkspaceChanges = { removed: [], emptied: [] }
  for (const { filename } of await listFiles(client, target)) {
    const content = await buffer(await openFile(client, target, filename))
    if (filename === workspaceChangesName) said = WorkspaceChanges.parse(JSON.parse(content.toString()))
    else changes.push({ path: filename, mark: markOf(filename), content })
  }
  for (const path of said.removed) changes.push({ path, mark: 'D' })
  for (const path of said.emptied) changes.push({ path, mark: markOf(path), content: Buffer.alloc(0) })
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

export function describeChanges(changes: FolderChange[]): string {
  const lines = changes.map(({ mark, path, content }) =>
    content === undefined ? `  ${mark} ${path}` : `  ${mark} ${path} (${formatSize(content.length)})`,
  )
  return ['changes to this folder:', ...lines].join('\n')
}

const mostNamed = 5

export function describeIgnored(paths: string[]): string {
  const more = paths.length > mostNamed ? `, and ${paths.length - mostNamed} more` : ''
  return `not offered, because .gitignore excludes it: ${paths.slice(0, mostNamed).join(', ')}${more}`
}

/** Applies them, except to files that changed here in the meantime, and never outside the folder. */
export async function applyChanges(changes: FolderChange[], given: Given, { terminal }: CliContext): Promise<boolean> {
  let isWhole = true
  for (const change of changes) {
    try {
      const problem = await applyChange(change, given)
      if (problem === undefined) continue
      terminal.note(`${terminal.colors.red('kept as it is:')} ${change.path}: ${problem}`)
    } catch (error) {
      terminal.note(`${terminal.colors.red('error:')} ${change.path}: ${messageOf(error)}`)
    }
    isWhole = false
  }
  return isWhole
}

/** Why it is not applied. */
async function applyChange({ path, content }: FolderChange, { folder, digests }: Given): Promise<string | undefined> {
  const target = localPathOf(folder, path)
  if (isOfGit(path)) return 'it would be part of the Git repository itself'
  if (!(await staysInside(folder, path))) return 'a link on the way to it leads elsewhere'
  if ((await digestOf(target)) !== digests.get(path)) return 'it was changed here while the task ran'
  if (content === undefined) {
    await rm(target)
    return undefined
  }
  const mode = (await lstat(target).catch(() => undefined))?.mode
  const draft = `${target}.svc-${process.pid}`
  await mkdir(dirname(target), { recursive: true })
  await writeFile(draft, content, { flag: 'wx' })
  if (mode !== undefined) await chmod(draft, mode)
  await rename(draft, target)
  return undefined
}

/** Whether no existing part of the path is a link. */
async function staysInside(folder: string, path: string): Promise<boolean> {
  const root = await realpath(folder)
  let current = root
  for (const part of path.split('/')) {
    current = join(current, part)
    const stat = await lstat(current).catch(() => undefined)
    if (stat === undefined) return true
    if (stat.isSymbolicLink()) return false
  }
  return current.startsWith(root + sep)
}
