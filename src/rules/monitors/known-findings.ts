// Findings of a pull request over all its reviews: what is new, what was shown before, what a person has dismissed.
import { createHash } from 'node:crypto'
import type { MonitorFinding } from '../../contract/api/monitor-records.ts'
import { dropUndefined } from '../../contract/json.ts'
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

type Place = { file?: string; line?: number; anchor?: string }

/** Where the finding is, as far as the diff shows it. */
function placeOf({ file, line }: GivenFinding, lines: DiffLines): Place {
  const anchor = file == null || line == null ? undefined : lines.get(file)?.shown.get(line)?.trim()
  return dropUndefined({ file: file ?? undefined, line: line ?? undefined, anchor })
}

function nameFinding({ title }: GivenFinding, { file, anchor }: Place, number: number): Remembered {
  return { id: makeId(number, file, title, anchor), title, ...(file && { file }), ...(anchor && { anchor }) }
}

/** The findings of a review, each once, with the identity that it has in all reviews of the pull request. */
export function recognizeFindings(
  given: readonly GivenFinding[],
  { number, lines, known }: { number: number; lines: DiffLines; known: readonly Remembered[] },
): Placed[] {
  const placed = new Map<string, Placed>()
  const all = [...known]
  for (const one of given) {
    const place = placeOf(one, lines)
    const before = all.find((other) => isSame(other, place.file, one.title, place.anchor))
    const remembered = before ?? nameFinding(one, place, number)
    if (before === undefined) all.push(remembered)
    if (placed.has(remembered.id)) continue
    placed.set(remembered.id, describe(one, { ...remembered, state: stateOf(before) }, place))
  }
  return [...placed.values()]
}

function describe(
  { priority, confidence, title, body, recommendation }: GivenFinding,
  { id, state }: Pick<MonitorFinding, 'id' | 'state'>,
  { anchor, ...where }: Place,
): Placed {
  const advice = recommendation == null ? {} : { recommendation }
  const finding: MonitorFinding = { id, priority, confidence, title, body, ...where, ...advice, state }
  return { finding, ...(anchor !== undefined && { anchor }) }
}
