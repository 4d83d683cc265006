// What differs between two commits: paths, renames and changed lines; and whole files up to a limit, for reading and
// for `git apply`.
import { isUtf8 } from 'node:buffer'
import { readGitPath } from '../lib/git-path.ts'
import type { ChangedLines, TreeChanges } from '../ports/scans/source-trees.ts'
import type { ChangedFile, CheckoutDiff } from '../ports/workspaces/checkouts.ts'
import { runGitCommand } from './command.ts'
import { showingBinary } from './git-folder.ts'
import { runInTree, type WorkTree } from './work-tree.ts'

const maxFiles = 10_000

const changes: Record<string, ChangedFile['change']> = { A: 'added', D: 'removed', R: 'renamed' }

type Entry = ChangedFile & { sections: number }

/** `:modes ids LETTER`, then one path, or two of a renamed file (git-diff-tree(1), raw output). */
function readEntry(head: string, next: () => string): Entry {
  const letter = head.split(' ').at(-1)?.[0] ?? 'M'
  const from = letter === 'R' ? { from: next() } : {}
  const change = changes[letter] ?? 'changed'
  const sections = letter === 'T' ? 2 : 1
  return { path: next(), ...from, change, added: 0, removed: 0, binary: false, sections }
}

type Counts = Pick<ChangedFile, 'added' | 'removed' | 'binary'>

function readCounts(head: string, next: () => string): [string, Counts] {
  const [added = '-', removed = '-', ...rest] = head.split('\t')
  const name = rest.join('\t')
  // Of a renamed file the name is empty, and both follow.
  const path = name === '' ? [next(), next()][1] : name
  return [path ?? '', { added: Number(added) || 0, removed: Number(removed) || 0, binary: added === '-' }]
}

/** What `--raw --numstat -z` prints: first all entries, then the counts of all. */
function readChanges(output: string): Entry[] {
  const words = output.split('\0')
  const entries: Entry[] = []
  const counts = new Map<string, Counts>()
  let at = 0
  const next = () => words[at++] ?? ''
  while (at < words.length) {
    const word = next()
    if (word.startsWith(':')) entries.push(readEntry(word, next))
    else if (word !== '') counts.set(...readCounts(word, next))
  }
  return entries.map((entry) => ({ ...entry, ...counts.get(entry.path) }))
}

const start = Buffer.from('diff --git ')
const lineStart = Buffer.from('\ndiff --git ')

/**
 * Cuts a patch into the sections of its files: no other line begins like that, as those of files are indented by one
 * character. Holds only what may still be kept.
 */
class Sections {
  readonly list: { text: Buffer; size: number }[] = []
  #buffered: Buffer[] = []
  #size = 0
  #tail = Buffer.alloc(0)
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add(chunk: Buffer): void {
    let bytes = Buffer.concat([this.#tail, chunk])
    for (let cut = bytes.indexOf(lineStart); cut >= 0; cut = bytes.indexOf(lineStart)) {
      this.#keep(bytes.subarray(0, cut + 1))
      this.#close()
      bytes = bytes.subarray(cut + 1)
    }
    const rest = Math.max(0, bytes.length - lineStart.length)
    this.#keep(bytes.subarray(0, rest))
    this.#tail = Buffer.from(bytes.subarray(rest))
  }

  end(): void {
    this.#keep(this.#tail)
    this.#tail = Buffer.alloc(0)
    this.#close()
  }

  #keep(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size <= this.#max) this.#buffered.push(Buffer.from(bytes))
  }

  #close(): void {
    if (this.#size > 0) this.list.push({ text: Buffer.concat(this.#buffered), size: this.#size })
    this.#buffered = []
    this.#size = 0
  }
}

const patchArgs = ['diff-tree', '-r', '-M', '--no-textconv', '--no-ext-diff', '--no-color']

async function readSections(tree: WorkTree, between: string[], max: number): Promise<Sections['list']> {
  const sections = new Sections(max)
  const args = [...patchArgs, '-p', '--binary', '--full-index', '--src-prefix=a/', '--dst-prefix=b/', ...between]
  await runInTree(tree, args, { onOutput: (chunk) => sections.add(chunk) })
  sections.end()
  return sections.list.filter(({ text, size }) => size > max || text.subarray(0, start.length).equals(start))
}

/** Text of another encoding would not survive: such files are shown as binary ones. */
async function readReadable(tree: WorkTree, between: string[], max: number): Promise<Sections['list']> {
  const sections = await readSections(tree, between, max)
  if (sections.every(({ text }) => isUtf8(text))) return sections
  const binary = await showingBinary(tree.gitDir, () => readSections(tree, between, max))
  return sections.map((section, index) => (isUtf8(section.text) ? section : (binary[index] ?? section)))
}

/** The difference between two trees. At most `max` bytes of text. */
export async function readDiff(
  tree: WorkTree,
  between: string[],
  max: number,
): Promise<Omit<CheckoutDiff, 'nested' | 'leftOut'>> {
  const { stdout } = await runInTree(tree, [...patchArgs, '--raw', '--numstat', '-z', ...between])
  const entries = readChanges(stdout.toString())
  if (entries.length === 0) return { text: '', files: [], truncated: false }
  const sections = await readReadable(tree, between, max)
  let text = ''
  let at = 0
  const files = entries.map(({ sections: count, ...file }): ChangedFile => {
    const parts = sections.slice(at, at + count)
    const size = parts.reduce((sum, part) => sum + part.size, 0)
    at += count
    if (Buffer.byteLength(text) + size > max)
      return { ...file, omitted: `its change of ${size} bytes does not fit into the diff` }
    text += Buffer.concat(parts.map((part) => part.text)).toString()
    return file
  })
  const truncated = files.length > maxFiles || files.some((file) => file.omitted !== undefined)
  return { text, files: files.slice(0, maxFiles), truncated }
}

const maxDiffBytes = 2 * 1024 ** 2
const maxRanges = 2000
const maxLines = 20_000

type Span = { gitDir: string; base: string; commit: string; signal: AbortSignal }

const usual = ['diff-tree', '-r', '-M', '--no-textconv', '--no-ext-diff', '--no-color']
const env = { GIT_NO_LAZY_FETCH: '1' }

/**
 * `+++ b/PATH`, then `@@ -a,b +START,COUNT @@` for each hunk (unified diff without context). The lines of a hunk are
 * passed over by their number: what a file says may look like either.
 */
function readRanges(patch: string): ChangedLines[] {
  const ranges: ChangedLines[] = []
  const lines = patch.split('\n')
  let path: string | undefined
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line.startsWith('+++ ')) path = readGitPath(line.slice('+++ '.length))
    const hunk = readHunk(line)
    if (hunk === undefined) continue
    at = passLines(lines, at, hunk.removed + hunk.added)
    const { startLine, added } = hunk
    if (path !== undefined) ranges.push({ path, startLine, endLine: Math.max(startLine, startLine + added - 1) })
  }
  return ranges
}

function readHunk(line: string): { startLine: number; added: number; removed: number } | undefined {
  const hunk = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
  if (hunk === null) return undefined
  return { removed: Number(hunk[1] ?? 1), startLine: Math.max(1, Number(hunk[2])), added: Number(hunk[3] ?? 1) }
}

/** Where the last of the next `count` lines stands; a note of git's (`\ No newline`) is none of them. */
function passLines(lines: readonly string[], from: number, count: number): number {
  let at = from
  for (let left = count; left > 0 && at + 1 < lines.length; ) {
    at += 1
    if (!lines[at]?.startsWith('\\')) left -= 1
  }
  return at
}

async function readLines({ gitDir, base, commit, signal }: Span): Promise<ChangedLines[] | undefined> {
  const parts: Buffer[] = []
  let size = 0
  const onOutput = (chunk: Buffer) => {
    size += chunk.length
    if (size <= maxDiffBytes) parts.push(chunk)
  }
  const args = [...usual, '-p', '-U0', '--src-prefix=a/', '--dst-prefix=b/', base, commit]
  await runGitCommand({ args: ['-c', 'core.quotePath=false', ...args], gitDir, env, onOutput, signal })
  const text = Buffer.concat(parts).toString()
  if (size > maxDiffBytes || text.split('\n').length > maxLines) return undefined
  const ranges = readRanges(text)
  return ranges.length > maxRanges ? undefined : ranges
}

async function isThere({ gitDir, base, signal }: Span): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(base)) return false
  const { code } = await runGitCommand({
    args: ['cat-file', '-e', `${base}^{commit}`],
    gitDir,
    env,
    codes: [0, 1, 128],
    signal,
  })
  return code === 0
}

/** Undefined: the earlier commit is not there. */
export async function readTreeChanges(span: Span): Promise<TreeChanges | undefined> {
  if (!(await isThere(span))) return undefined
  const { gitDir, base, commit, signal } = span
  const { stdout } = await runGitCommand({
    args: [...usual, '--raw', '--numstat', '-z', base, commit],
    gitDir,
    env,
    signal,
  })
  const entries = readChanges(stdout.toString())
  const lines = await readLines(span)
  const gone = entries.flatMap(({ path, from, change }) =>
    change === 'removed' ? [path] : from === undefined ? [] : [from],
  )
  return {
    changed: entries
      .filter(({ change }) => change !== 'removed')
      .map(({ path }) => path)
      .sort(),
    removed: gone.sort(),
    renamed: new Map(entries.flatMap(({ path, from }) => (from === undefined ? [] : [[path, from]]))),
    ...(lines !== undefined && { lines }),
  }
}
