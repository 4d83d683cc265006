// What a task changed in the files that it was given: shown line by line where git is installed, and applied here on request.
import { execFile } from 'node:child_process'
import { chmod, lstat, mkdir, mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Client } from '../../client/client.ts'
import { WorkspaceChanges, workspaceChangesName } from '../../contract/api/tasks/internal.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { messageOf } from '../../errors.ts'
import { describeBytes } from '../../lib/bytes.ts'
import { removeTree } from '../../lib/tree-removal.ts'
import type { CliContext } from '../context.ts'
import { targetOfTask } from '../follow/follow.ts'
import { paintLine } from '../output/diff-text.ts'
import type { Colors } from '../output/terminal.ts'
import { isOfGit, listFiles, localPathOf, openFile } from './artifact-files.ts'
import { digestOf, digestOfBytes, findIgnored } from './folder-files.ts'

export type FolderChange = {
  path: string
  /** Added, modified or deleted. */
  mark: 'A' | 'M' | 'D'
  /** Absent for a deleted file. */
  content?: Buffer
}

export type SentFolder = { folder: string; digests: ReadonlyMap<string, string> }

export type FoundChanges = {
  /** By path. */
  changes: FolderChange[]
  /** New files that `.gitignore` excludes here: what tools made, as a rule. */
  ignored: string[]
}

/** The differences from the files that were given. */
export async function findChanges(client: Client, task: Task, sentFolder: SentFolder): Promise<FoundChanges> {
  const found = await readChanges(client, task, sentFolder)
  const added = found.filter(({ mark }) => mark === 'A').map(({ path }) => path)
  const ignored = added.length === 0 ? new Set() : await findIgnored(sentFolder.folder, added)
  return {
    changes: found.filter(({ path }) => !ignored.has(path)),
    ignored: added.filter((path) => ignored.has(path)),
  }
}

async function readChanges(client: Client, task: Task, { digests }: SentFolder): Promise<FolderChange[]> {
  const target = targetOfTask(task)
  const markOf = (path: string) => (digests.has(path) ? 'M' : 'A')
  const changes: FolderChange[] = []
  let listed: WorkspaceChanges = { removed: [] }
  for (const { filename } of await listFiles(client, target)) {
    const content = await buffer(await openFile(client, target, filename))
    if (filename === workspaceChangesName) listed = WorkspaceChanges.parse(JSON.parse(content.toString()))
    else changes.push({ path: filename, mark: markOf(filename), content })
  }
  for (const path of listed.removed) changes.push({ path, mark: 'D' })
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1))
}

export function describeChanges(changes: FolderChange[]): string {
  const lines = changes.map(({ mark, path, content }) =>
    content === undefined ? `  ${mark} ${path}` : `  ${mark} ${path} (${describeBytes(content.length)})`,
  )
  return ['changes to this folder:', ...lines].join('\n')
}

const maxNamed = 5

export function describeIgnored(paths: string[]): string {
  const more = paths.length > maxNamed ? `, and ${paths.length - maxNamed} more` : ''
  return `not offered, because .gitignore excludes it: ${paths.slice(0, maxNamed).join(', ')}${more}`
}

/** Applies them, except to files that changed here in the meantime, and never outside the folder. */
export async function applyChanges(
  changes: FolderChange[],
  sentFolder: SentFolder,
  { terminal }: CliContext,
): Promise<boolean> {
  let isWhole = true
  for (const change of changes) {
    try {
      const problem = await applyChange(change, sentFolder)
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
async function applyChange(
  { path, content }: FolderChange,
  { folder, digests }: SentFolder,
): Promise<string | undefined> {
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

/** Beyond this nobody reads on. */
const maxLines = 400
const maxBytes = 64 * 1024 ** 2

/** Files have numbers for names: those of a task could have attributes that hide what changed. */
async function writePair(
  workDir: string,
  number: string,
  { change, sentFolder }: { change: FolderChange; sentFolder: SentFolder },
) {
  const before = await readFile(join(sentFolder.folder, change.path)).catch(() => undefined)
  const sent = sentFolder.digests.get(change.path)
  // It was changed here meanwhile, and is kept as it is.
  if ((before && digestOfBytes(before)) !== sent) return
  if (before !== undefined) await writeFile(join(workDir, 'before', number), before)
  if (change.content !== undefined) await writeFile(join(workDir, 'after', number), change.content)
}

/** Undefined without git. */
function runDiff(workDir: string): Promise<string | undefined> {
  const usual = ['--no-pager', '-c', 'core.quotePath=false', '-c', 'core.safecrlf=false']
  const how = ['--no-ext-diff', '--no-textconv', '--no-color', '--no-renames', '--src-prefix=', '--dst-prefix=']
  const args = [...usual, 'diff', '--no-index', ...how, 'before', 'after']
  return new Promise((resolve) => {
    execFile('git', args, { cwd: workDir, maxBuffer: maxBytes }, (error, stdout) => {
      // 1: they differ.
      resolve(error === null || error.code === 1 ? stdout : undefined)
    })
  })
}

/** `diff --git before/3 after/3`, or twice the one that there is. */
const section = /^diff --git \S+\/(\d+) \S+\/\d+\n/m

type Section = { change: FolderChange; lines: string[] }

/** Only those that have lines: not of binary or empty files. */
function readSections(output: string, changes: FolderChange[]): Section[] {
  const parts = output.split(section)
  const sections: Section[] = []
  for (let at = 1; at + 1 < parts.length; at += 2) {
    const change = changes[Number(parts[at])]
    const lines = (parts[at + 1] ?? '').replace(/\n$/, '').split('\n')
    const start = lines.findIndex((line) => line.startsWith('@@ '))
    if (change !== undefined && start >= 0) sections.push({ change, lines: lines.slice(start) })
  }
  return sections
}

/** Undefined when there are no lines to show. */
export async function describeLines(
  changes: FolderChange[],
  sentFolder: SentFolder,
  colors: Colors,
): Promise<string | undefined> {
  const workDir = await mkdtemp(join(tmpdir(), 'svc-changes-'))
  try {
    for (const side of ['before', 'after']) await mkdir(join(workDir, side))
    for (const [number, change] of changes.entries()) await writePair(workDir, `${number}`, { change, sentFolder })
    const sections = readSections((await runDiff(workDir)) ?? '', changes)
    const lines = sections.flatMap(({ change, lines }) => [
      colors.bold(change.path),
      ...lines.map((line) => paintLine(line, colors)),
    ])
    if (lines.length === 0) return undefined
    const more = lines.length - maxLines
    return [...lines.slice(0, maxLines), ...(more > 0 ? [`... and ${more} more lines`] : [])].join('\n')
  } finally {
    await removeTree(workDir)
  }
}
