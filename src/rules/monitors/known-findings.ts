// Findings of a pull request over all its reviews: what is new, what was shown before, what a person has dismissed.
import { createHash } from 'node:crypto'
import type { MonitorFinding } from '../../contract/api/monitor-records.ts'
import type { DiffLines } from './diff-lines.ts'
import type { GivenFinding } from './verdict.ts'

/** A finding that was made before. `anchor` is the text of its line, which moves with the line. */
export type Remembered = {
  id: string
  file?: string
  title: string
  anchor?: string
  shownAt?: string
  dismissedAt?: string
}

export type Placed = { finding: MonitorFinding; anchor?: string }

/** How much of the words of two titles must be the same: with the same line of code, and without. */
const sameLineShare = 0.3
const otherLineShare = 0.7

function listWords(title: string): Set<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
}

/** Share of the words that two titles have in common (Jaccard). */
function compareTitles(one: string, other: string): number {
  const [words, others] = [listWords(one), listWords(other)]
  const both = [...words].filter((word) => others.has(word)).length
  const all = words.size + others.size - both
  return all === 0 ? 1 : both / all
}

function isSame(known: Remembered, file: string | undefined, title: string, anchor: string | undefined): boolean {
  if (known.file !== file) return false
  const isAtLine = anchor !== undefined && known.anchor === anchor
  return compareTitles(known.title, title) >= (isAtLine ? sameLineShare : otherLineShare)
}

function makeId(number: number, file: string | undefined, title: string, anchor: string | undefined): string {
  const identity = [number, file ?? '', anchor ?? '', title.toLowerCase()].join('\0')
  return `find-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`
}

function stateOf(known: Remembered | undefined): MonitorFinding['state'] {
  if (known?.dismissedAt !== undefined) return 'dismissed'
  return known?.shownAt === undefined ? 'new' : 'shown'
}

/** The findings of a review, each once, with the identity that it has in all reviews of the pull request. */
export function recognizeFindings(
  given: readonly GivenFinding[],
  { number, lines, known }: { number: number; lines: DiffLines; known: readonly Remembered[] },
): Placed[] {
  const placed: Placed[] = []
  const all = [...known]
  for (const { file: givenFile, line: givenLine, recommendation, ...said } of given) {
    const file = givenFile ?? undefined
    const line = givenLine ?? undefined
    const anchor =
      line === undefined
        ? undefined
        : lines
            .get(file ?? '')
            ?.shown.get(line)
            ?.trim()
    const before = all.find((one) => isSame(one, file, said.title, anchor))
    const id = before?.id ?? makeId(number, file, said.title, anchor)
    if (placed.some(({ finding }) => finding.id === id)) continue
    const where = { ...(file !== undefined && { file }), ...(line !== undefined && { line }) }
    const advice = recommendation == null ? {} : { recommendation }
    const finding: MonitorFinding = { id, ...said, ...where, ...advice, state: stateOf(before) }
    placed.push({ finding, ...(anchor !== undefined && { anchor }) })
    if (before === undefined) all.push({ id, title: said.title, ...(file && { file }), ...(anchor && { anchor }) })
  }
  return placed
}
