// Evidence is checked against the file as it is at the commit that was reviewed, within what the reviewer was shown.
import type { CandidateEvidence } from './candidate.ts'
import type { Lines } from './review-context.ts'
import { normalizePath } from './tree-paths.ts'

/** A file at the commit. */
export type SourceText = {
  lines: readonly string[]
  /** Function or type around a line, as the file declares it. */
  symbolAt(line: number): string | undefined
}

/** What was shown, by path. */
export type Shown = ReadonlyMap<string, readonly Lines[]>

/** Evidence that is true. `startLine` and `endLine` are where the quote stands. */
export type VerifiedEvidence = {
  path: string
  startLine: number
  endLine: number
  symbol?: string
  quote: string
}

export const evidenceFaults = {
  path: (path: string) => `evidence path "${path.slice(0, 200)}" is not repo-relative and safe`,
  notShown: 'evidence file was not included in review context',
  halfRange: 'evidence line ranges must include both startLine and endLine',
  inverted: 'evidence line range is inverted',
  outside: 'evidence line range is outside included review context',
  quote: 'evidence quote does not match cited file range',
} as const

/** Lines of code of a finding without a quote that are kept. */
const mostQuotedLines = 20
/** A quote this short stands in many places. */
const leastQuote = 12

/** Blanks count for nothing: models and formatters change them. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, '')
}

function checkPlace({ path, startLine, endLine }: CandidateEvidence, shown: Shown): string | undefined {
  if (path === '' || normalizePath(path) !== path || /[\\\0\n]|^[a-z]:/i.test(path)) return evidenceFaults.path(path)
  const ranges = shown.get(path)
  if (ranges === undefined) return evidenceFaults.notShown
  if (startLine === undefined || endLine === undefined) return evidenceFaults.halfRange
  if (startLine > endLine) return evidenceFaults.inverted
  const isInside = ranges.some((range) => startLine >= range.startLine && endLine <= range.endLine)
  return isInside ? undefined : evidenceFaults.outside
}

/** Where within some lines a quote stands, by the lines it touches; each line is squeezed. */
function findQuote(lines: readonly string[], from: number, wanted: string): Lines | undefined {
  const starts: number[] = []
  let joined = ''
  for (const line of lines) {
    starts.push(joined.length)
    joined += squeeze(line)
  }
  const at = joined.indexOf(wanted)
  if (at < 0) return undefined
  const lineOf = (offset: number) => from + starts.findLastIndex((start) => start <= offset)
  return { startLine: lineOf(at), endLine: lineOf(at + wanted.length - 1) }
}

/** In the cited lines; else in the one place of what was shown that has it: reviewers miscount lines. */
function locate(evidence: CandidateEvidence, source: SourceText, ranges: readonly Lines[]): Lines | undefined {
  const { startLine = 1, endLine = 1, quote } = evidence
  if (quote === undefined) return { startLine, endLine }
  const wanted = squeeze(quote)
  const cited = findQuote(source.lines.slice(startLine - 1, endLine), startLine, wanted)
  if (cited !== undefined || wanted.length < leastQuote) return cited
  const places = ranges.flatMap((range) => findEach(source.lines, range, wanted))
  return places.length === 1 ? places[0] : undefined
}

/** The first two places: more are not told apart. */
function findEach(lines: readonly string[], { startLine, endLine }: Lines, wanted: string): Lines[] {
  const first = findQuote(lines.slice(startLine - 1, endLine), startLine, wanted)
  if (first === undefined) return []
  const second = findQuote(lines.slice(first.startLine, endLine), first.startLine + 1, wanted)
  return second === undefined ? [first] : [first, second]
}

/** A reason when it is not true. */
export function checkEvidence(
  evidence: CandidateEvidence,
  shown: Shown,
  source: SourceText | undefined,
): VerifiedEvidence | { reason: string } {
  const fault = checkPlace(evidence, shown)
  if (fault !== undefined) return { reason: fault }
  const { path, endLine = 1 } = evidence
  if (source === undefined || endLine > source.lines.length) return { reason: evidenceFaults.outside }
  const place = locate(evidence, source, shown.get(path) ?? [])
  if (place === undefined) return { reason: evidenceFaults.quote }
  const lines = source.lines.slice(place.startLine - 1, Math.min(place.endLine, place.startLine - 1 + mostQuotedLines))
  const symbol = source.symbolAt(place.startLine)
  return { path, ...place, ...(symbol !== undefined && { symbol }), quote: lines.join('\n') }
}
