// The lines of a unified diff as they are in the new file, so that a review can be held to them.
import { quoteGitPath, readGitPath } from '../../lib/git-path.ts'

/** Text of the lines that a hunk shows of the new file, by number; `added` has those that the change adds. */
export type FileLines = { shown: Map<number, string>; added: Set<number> }
export type DiffLines = Map<string, FileLines>

type Hunk = { line: number; oldLeft: number; newLeft: number }

function readHunk(text: string): Hunk | undefined {
  const found = /^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text)
  if (found === null) return undefined
  const [, oldCount = '1', start = '0', newCount = '1'] = found
  return { line: Number(start), oldLeft: Number(oldCount), newLeft: Number(newCount) }
}

function takeLine(file: FileLines, hunk: Hunk, text: string): void {
  const sign = text[0] ?? ' '
  if (sign === '\\') return
  if (sign !== '+') hunk.oldLeft -= 1
  if (sign === '-') return
  file.shown.set(hunk.line, text.slice(1))
  if (sign === '+') file.added.add(hunk.line)
  hunk.line += 1
  hunk.newLeft -= 1
}

/** Reads a whole diff. What is in a hunk is told by the hunk's counts, so that no line of a file passes for a header. */
export function readDiffLines(diff: string): DiffLines {
  const files: DiffLines = new Map()
  let file: FileLines | undefined
  let hunk: Hunk | undefined
  for (const text of diff.split('\n')) {
    if (hunk !== undefined && file !== undefined && (hunk.oldLeft > 0 || hunk.newLeft > 0)) {
      takeLine(file, hunk, text)
      continue
    }
    hunk = readHunk(text)
    if (!text.startsWith('+++ ')) continue
    const path = readGitPath(text.slice('+++ '.length))
    file = { shown: new Map(), added: new Set() }
    if (path !== undefined) files.set(path, file)
  }
  return files
}

/** A diff made of the patches of single files, for changes too large for one answer. */
export function joinPatches(files: readonly { path: string; patch?: string }[]): string {
  return files
    .map(
      ({ path, patch }) =>
        `--- ${quoteGitPath(`a/${path}`)}\n+++ ${quoteGitPath(`b/${path}`)}\n${patch ?? ''}${patch?.endsWith('\n') === false ? '\n' : ''}`,
    )
    .join('')
}
