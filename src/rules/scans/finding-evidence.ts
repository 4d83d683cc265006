// Evidence is checked against the file as it is at the commit that was reviewed, within what the reviewer was shown.
import type { Finding } from '../../contract/api/scans/findings.ts'
import { isInnerPath } from '../../lib/inner-path.ts'
import { createRedactor } from '../../observability/redaction.ts'
import type { CandidateEvidence } from './candidate.ts'
import { decodeSource } from './left-out.ts'
import { type Lines, splitSourceLines } from './review-context.ts'

/** A file at the commit. */
export type SourceText = {
  lines: readonly string[]
  /** The line in which this many characters (UTF-16 units), or bytes, have passed; it may be past the end. */
  lineAt(offset: number, unit: 'char' | 'byte'): number
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

const evidenceFaults = {
  path: (path: string) => `evidence path "${path.slice(0, 200)}" is not repo-relative and safe`,
  notShown: 'evidence file was not included in review context',
  halfRange: 'evidence line ranges must include both startLine and endLine',
  inverted: 'evidence line range is inverted',
  outside: 'evidence line range is outside included review context',
  quote: 'evidence quote does not match cited file range',
} as const

/** Lines of code of a finding without a quote that are kept. */
const maxQuotedLines = 20
/** A quote this short stands in many places. */
const minQuoteLength = 12

/** Blanks count for nothing: models and formatters change them. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, '')
}

function checkLines({ path, startLine, endLine }: CandidateEvidence, shown: Shown): string | undefined {
  if (!isInnerPath(path)) return evidenceFaults.path(path)
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

/** In the cited lines; else at the one position of what was shown that has it: reviewers miscount lines. */
function locate(evidence: CandidateEvidence, source: SourceText, ranges: readonly Lines[]): Lines | undefined {
  const { startLine = 1, endLine = 1, quote } = evidence
  if (quote === undefined) return { startLine, endLine }
  const wanted = squeeze(quote)
  const cited = findQuote(source.lines.slice(startLine - 1, endLine), startLine, wanted)
  if (cited !== undefined || wanted.length < minQuoteLength) return cited
  const matches = ranges.flatMap((range) => findEach(source.lines, range, wanted))
  return matches.length === 1 ? matches[0] : undefined
}

/** The first two positions: more are not distinguished. */
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
  const fault = checkLines(evidence, shown)
  if (fault !== undefined) return { reason: fault }
  const { path, endLine = 1 } = evidence
  if (source === undefined || endLine > source.lines.length) return { reason: evidenceFaults.outside }
  const range = locate(evidence, source, shown.get(path) ?? [])
  if (range === undefined) return { reason: evidenceFaults.quote }
  const lines = source.lines.slice(range.startLine - 1, Math.min(range.endLine, range.startLine - 1 + maxQuotedLines))
  const symbol = source.symbolAt(range.startLine)
  return { path, ...range, ...(symbol !== undefined && { symbol }), quote: lines.join('\n') }
}

export const redactCode = createRedactor([], 'tokens')

/** `lines`: of its file; undefined: there is no such file. */
export function isCodeGone({ evidence: [first] }: Pick<Finding, 'evidence'>, lines: readonly string[] | undefined) {
  if (lines === undefined) return true
  if (first?.quote === undefined) return false
  return !squeeze(redactCode(lines.join('\n'))).includes(squeeze(first.quote))
}

/** A function, method or type that a file declares; both lines included, from 1. */
type SourceDeclaration = { name: string; startLine: number; endLine: number }

const declaring =
  /^\s*(?:export\s+|default\s+|public\s+|private\s+|protected\s+|static\s+|async\s+|pub\s+)*(?:function\*?|def|func|fn|class|interface|trait|impl|struct|module|sub)\s+(?:\([^)]{0,120}\)\s*)?([\w$.:]{1,120})/

const indentOf = (line: string) => line.length - line.trimStart().length

/** By indentation and the usual words, of a language that nothing else is known of. */
function guessSymbol(lines: readonly string[], line: number): string | undefined {
  let indent = indentOf(lines[line - 1] ?? '') + 1
  for (let at = line - 1; at >= 0; at -= 1) {
    const text = lines[at] ?? ''
    if (text.trim() === '' || indentOf(text) >= indent) continue
    const name = declaring.exec(text)?.[1]
    if (name !== undefined) return name
    indent = Math.max(1, indentOf(text))
  }
  return undefined
}

/** `declarations` absent: the language has no parser here. */
export function makeSourceText(content: Uint8Array, declarations?: readonly SourceDeclaration[]): SourceText {
  const text = decodeSource(content)
  const lines = splitSourceLines(text)
  const isAround = (line: number) => (one: SourceDeclaration) => line >= one.startLine && line <= one.endLine
  return {
    lines,
    lineAt(offset, unit) {
      const before = unit === 'char' ? text.slice(0, offset) : decodeSource(content.subarray(0, offset))
      return before.split(/\r\n|\n|\r/).length
    },
    symbolAt(line) {
      if (declarations === undefined) return guessSymbol(lines, line)
      const around = declarations.filter(isAround(line))
      return around.length === 0
        ? undefined
        : around
            .map(({ name }) => name)
            .join('.')
            .slice(0, 256)
    },
  }
}
