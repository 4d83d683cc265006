// Unified diffs as git writes them, read: files, hunks and numbered lines.
import { readGitPath, unquoteGitPath } from '../../../../src/lib/git-path.ts'

export type DiffLine = {
  sign: '+' | '-' | ' ' | '\\'
  text: string
  /** Number of the line before and after the change. */
  before?: number
  after?: number
}

export type DiffHunk = { head: string; lines: DiffLine[] }

export type DiffFile = {
  path: string
  /** Of a file that was renamed or copied. */
  oldPath?: string
  change: 'added' | 'removed' | 'renamed' | 'changed'
  isBinary: boolean
  added: number
  removed: number
  hunks: DiffHunk[]
}

/** Lines that are shown of the file. */
export function linesOf({ hunks }: DiffFile): number {
  return hunks.reduce((sum, { lines }) => sum + lines.length, 0)
}

/** `diff --git a/x b/x`: the same path twice, unless lines below say otherwise. */
function readHead(text: string): string {
  const quoted = text.endsWith('"') ? text.indexOf('"b/') : -1
  if (quoted !== -1) return readGitPath(text.slice(quoted)) ?? ''
  return text.slice(text.length - (text.length - 5) / 2)
}

/** Lines between the head of a file and its first hunk: how they begin, and what the rest tells. */
const notes: [start: string, read: (rest: string, file: DiffFile) => Partial<DiffFile>][] = [
  ['new file', () => ({ change: 'added' })],
  ['deleted file', () => ({ change: 'removed' })],
  ['rename from ', (rest) => ({ change: 'renamed', oldPath: unquoteGitPath(rest) })],
  ['rename to ', (rest) => ({ path: unquoteGitPath(rest) })],
  ['copy from ', (rest) => ({ oldPath: unquoteGitPath(rest) })],
  ['copy to ', (rest) => ({ path: unquoteGitPath(rest) })],
  ['--- ', (rest, file) => ({ path: readGitPath(rest) ?? file.path })],
  ['+++ ', (rest, file) => ({ path: readGitPath(rest) ?? file.path })],
  ['Binary files ', () => ({ isBinary: true })],
  ['GIT binary patch', () => ({ isBinary: true })],
]

function readNote(file: DiffFile, line: string): void {
  const note = notes.find(([start]) => line.startsWith(start))
  if (note !== undefined) Object.assign(file, note[1](line.slice(note[0].length), file))
}

type Left = { hunk: DiffHunk; before: number; after: number; oldLeft: number; newLeft: number }

function beginHunk(file: DiffFile, line: string): Left | undefined {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
  if (found === null) return undefined
  const [, before, oldLeft = '1', after, newLeft = '1'] = found
  const hunk: DiffHunk = { head: line, lines: [] }
  file.hunks.push(hunk)
  return {
    hunk,
    before: Number(before),
    after: Number(after),
    oldLeft: Number(oldLeft),
    newLeft: Number(newLeft),
  }
}

/** Which sides of the change a line is on. */
const sides: Record<string, { isBefore: boolean; isAfter: boolean }> = {
  ' ': { isBefore: true, isAfter: true },
  '-': { isBefore: true, isAfter: false },
  '+': { isBefore: false, isAfter: true },
}

function addLine(file: DiffFile, left: Left, line: string): void {
  const sign = (line[0] ?? ' ') as DiffLine['sign']
  const { isBefore, isAfter } = sides[sign] ?? { isBefore: true, isAfter: true }
  left.hunk.lines.push({
    sign,
    text: line.slice(1),
    ...(isBefore && { before: left.before++ }),
    ...(isAfter && { after: left.after++ }),
  })
  left.oldLeft -= Number(isBefore)
  left.newLeft -= Number(isAfter)
  file.added += Number(!isBefore)
  file.removed += Number(!isAfter)
}

/** False when the line does not belong to the hunk: its head says how many lines it has. */
function readLine(file: DiffFile, left: Left, line: string): boolean {
  if (line.startsWith('\\')) {
    left.hunk.lines.push({ sign: '\\', text: line.slice(1).trim() })
    return true
  }
  const isInside = left.oldLeft > 0 || left.newLeft > 0
  if (!isInside || !((line[0] ?? ' ') in sides)) return false
  addLine(file, left, line)
  return true
}

type Reading = { files: DiffFile[]; file: DiffFile | undefined; left: Left | undefined }

/** The file that begins with the line. Tools other than git write no `diff --git`. */
function beginFile({ file }: Reading, line: string): DiffFile | undefined {
  const isBare = line.startsWith('--- ') && (file === undefined || file.hunks.length > 0)
  if (!isBare && !line.startsWith('diff --git ')) return undefined
  const path = isBare ? '' : readHead(line.slice('diff --git '.length))
  return { path, change: 'changed', isBinary: false, added: 0, removed: 0, hunks: [] }
}

function readNext(reading: Reading, line: string): void {
  if (reading.file !== undefined && reading.left !== undefined && readLine(reading.file, reading.left, line)) return
  const begun = beginFile(reading, line)
  if (begun !== undefined) {
    reading.files.push(begun)
    reading.file = begun
  }
  if (reading.file === undefined) return
  reading.left = beginHunk(reading.file, line)
  if (reading.left === undefined) readNote(reading.file, line)
}

/** The files of the diff, in its order. What is no diff has none. */
export function parseDiff(diff: string): DiffFile[] {
  const reading: Reading = { files: [], file: undefined, left: undefined }
  for (const line of diff.split('\n')) readNext(reading, line)
  return reading.files
}
