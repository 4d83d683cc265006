// Which words of a changed line are others.
import type { DiffHunk, DiffLine } from './diff.ts'
import { pairLines } from './pairs.ts'

export type WordPart = { text: string; isChanged: boolean }
/** Undefined where the two have too little in common. */
export type CompareWords = (before: string, after: string) => { before: WordPart[]; after: WordPart[] } | undefined

export type WordMarks = ReadonlyMap<DiffLine, WordPart[]>

/** What is longer, and what comes after so many pairs, is marked as a whole. */
const maxLength = 2000
const maxPairs = 500

/** The parts of each line that stands in for another one. */
export function markWords(hunks: readonly DiffHunk[], compare: CompareWords | undefined): WordMarks {
  const marks = new Map<DiffLine, WordPart[]>()
  if (compare === undefined) return marks
  const pairs = hunks.flatMap(({ lines }) => pairLines(lines)).slice(0, maxPairs)
  for (const { before, after } of pairs) {
    if (before === undefined || after === undefined || before === after) continue
    if (Math.max(before.text.length, after.text.length) > maxLength) continue
    const parts = compare(before.text, after.text)
    if (parts === undefined) continue
    marks.set(before, parts.before)
    marks.set(after, parts.after)
  }
  return marks
}
