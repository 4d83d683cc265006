// What differs between two commits: paths, renames, and the lines that changed.
import type { ChangedLines, TreeChanges } from '../ports/scans/source-trees.ts'
import { runGit } from './command.ts'
import { readChanges } from './diff.ts'

const mostDiffBytes = 2 * 1024 ** 2
const mostRanges = 2000
const mostLines = 20_000

type Span = { gitDir: string; base: string; commit: string; signal: AbortSignal }

const usual = ['diff-tree', '-r', '-M', '--no-textconv', '--no-ext-diff', '--no-color']
const env = { GIT_NO_LAZY_FETCH: '1' }

/**
 * `+++ b/PATH`, then `@@ -a,b +START,COUNT @@` for each place (unified diff without context). The lines of a place are
 * passed over by their number: what a file says may look like either.
 */
function readRanges(patch: string): ChangedLines[] {
  const ranges: ChangedLines[] = []
  const lines = patch.split('\n')
  let path: string | undefined
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (line.startsWith('+++ ')) path = /^\+\+\+ b\/(.*?)\t?$/.exec(line)?.[1]
    const place = readPlace(line)
    if (place === undefined) continue
    at = passLines(lines, at, place.removed + place.added)
    const { startLine, added } = place
    if (path !== undefined) ranges.push({ path, startLine, endLine: Math.max(startLine, startLine + added - 1) })
  }
  return ranges
}

function readPlace(line: string): { startLine: number; added: number; removed: number } | undefined {
  const place = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
  if (place === null) return undefined
  return { removed: Number(place[1] ?? 1), startLine: Math.max(1, Number(place[2])), added: Number(place[3] ?? 1) }
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
    if (size <= mostDiffBytes) parts.push(chunk)
  }
  const args = [...usual, '-p', '-U0', '--src-prefix=a/', '--dst-prefix=b/', base, commit]
  await runGit({ args: ['-c', 'core.quotePath=false', ...args], gitDir, env, onOutput, signal })
  const text = Buffer.concat(parts).toString()
  if (size > mostDiffBytes || text.split('\n').length > mostLines) return undefined
  const ranges = readRanges(text)
  return ranges.length > mostRanges ? undefined : ranges
}

async function isThere({ gitDir, base, signal }: Span): Promise<boolean> {
  if (!/^[0-9a-f]{40}$/.test(base)) return false
  const { code } = await runGit({
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
  const { stdout } = await runGit({ args: [...usual, '--raw', '--numstat', '-z', base, commit], gitDir, env, signal })
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
