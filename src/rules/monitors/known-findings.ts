// Findings of a pull request over all its reviews: what is new, what was shown before, what a person has dismissed.
import { createHash } from 'node:crypto'
import type { MonitorFinding } from '../../contract/api/monitors/monitor-records.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { DiffLines } from './diff-lines.ts'
import type { ReportedFinding } from './verdict.ts'

/** A finding that was made before. `anchor` is the text of its line, which moves with the line. */
export type EarlierFinding = {
  id: string
  file?: string
  title: string
  anchor?: string
  shownAt?: string
  dismissedAt?: string
}

export type LocatedFinding = { finding: MonitorFinding; anchor?: string }

type Location = { file?: string; line?: number; anchor?: string }

/** How much of the words of two titles must be the same: with the same line of code, and without. */
const sameLineShare = 0.3
const otherLineShare = 0.7

function listWords(title: string): Set<string> {
  return new Set(title.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [])
}

/** Share of the words that both have in common (Jaccard). */
function compareWords(words: ReadonlySet<string>, others: ReadonlySet<string>): number {
  let both = 0
  for (const word of words) if (others.has(word)) both += 1
  const all = words.size + others.size - both
  return all === 0 ? 1 : both / all
}

/** With the words of its title: a pull request that is pushed to all day long has thousands. */
type Candidate = { remembered: EarlierFinding; words: Set<string> }

function toCandidate(remembered: EarlierFinding): Candidate {
  return { remembered, words: listWords(remembered.title) }
}

function findSame(
  candidates: readonly Candidate[],
  { title }: ReportedFinding,
  location: Location,
): EarlierFinding | undefined {
  const words = listWords(title)
  const same = candidates.find(({ remembered, words: others }) => {
    if (remembered.file !== location.file) return false
    const isAtLine = location.anchor !== undefined && remembered.anchor === location.anchor
    return compareWords(others, words) >= (isAtLine ? sameLineShare : otherLineShare)
  })
  return same?.remembered
}

function makeId(number: number, file: string | undefined, title: string, anchor: string | undefined): string {
  const identity = [number, file ?? '', anchor ?? '', title.toLowerCase()].join('\0')
  return `find-${createHash('sha256').update(identity).digest('hex').slice(0, 12)}`
}

function stateOf(known: EarlierFinding | undefined): MonitorFinding['state'] {
  if (known?.dismissedAt !== undefined) return 'dismissed'
  return known?.shownAt === undefined ? 'new' : 'shown'
}

/** Where the finding is, as far as the diff shows it. */
function locate({ file, line }: ReportedFinding, lines: DiffLines): Location {
  const anchor = file == null || line == null ? undefined : lines.get(file)?.shown.get(line)?.trim()
  return dropUndefined({ file: file ?? undefined, line: line ?? undefined, anchor })
}

function nameFinding({ title }: ReportedFinding, { file, anchor }: Location, number: number): EarlierFinding {
  return { id: makeId(number, file, title, anchor), title, ...(file && { file }), ...(anchor && { anchor }) }
}

/** The findings of a review, each once, with the identity that it has in all reviews of the pull request. */
export function recognizeFindings(
  reported: readonly ReportedFinding[],
  { number, lines, known }: { number: number; lines: DiffLines; known: readonly EarlierFinding[] },
): LocatedFinding[] {
  const recognized = new Map<string, LocatedFinding>()
  const candidates = known.map(toCandidate)
  for (const one of reported) {
    const location = locate(one, lines)
    const before = findSame(candidates, one, location)
    const remembered = before ?? nameFinding(one, location, number)
    if (before === undefined) candidates.push(toCandidate(remembered))
    if (recognized.has(remembered.id)) continue
    recognized.set(remembered.id, describe(one, { ...remembered, state: stateOf(before) }, location))
  }
  return [...recognized.values()]
}

function describe(
  { priority, confidence, title, body, recommendation }: ReportedFinding,
  { id, state }: Pick<MonitorFinding, 'id' | 'state'>,
  { anchor, ...where }: Location,
): LocatedFinding {
  const advice = recommendation == null ? {} : { recommendation }
  const finding: MonitorFinding = { id, priority, confidence, title, body, ...where, ...advice, state }
  return { finding, ...(anchor !== undefined && { anchor }) }
}
