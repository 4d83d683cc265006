// A finding of a scan as people read it: what it is, and the code around each place where it is seen.
import type { Evidence, Finding } from '../../contract/api/scans/findings.ts'
import { tryParseJson } from '../../lib/json.ts'
import { formatFields } from './output.ts'

/** Text of a file at a commit; undefined where it is not at hand. */
export type ReadCode = (commit: string, path: string) => Promise<string | undefined>

const linesAround = 3
const maxLines = 60

/** The cited lines, marked, between those around them; numbers are those of the file. */
export function showLines(text: string, { startLine = 1, endLine = startLine }: Evidence): string {
  const lines = text.split(/\r\n|\r|\n/)
  const first = Math.max(1, startLine - linesAround)
  const last = Math.min(lines.length, endLine + linesAround, first + maxLines - 1)
  const width = String(last).length
  return lines
    .slice(first - 1, last)
    .map((line, index) => {
      const number = first + index
      const mark = number >= startLine && number <= endLine ? '>' : ' '
      return `${mark} ${String(number).padStart(width)} | ${line}`.trimEnd()
    })
    .join('\n')
}

function locationOf({ path, startLine, endLine, symbol, label }: Evidence): string {
  const lines = startLine === undefined ? '' : `:${startLine}${endLine && endLine !== startLine ? `-${endLine}` : ''}`
  const more = [symbol, label].filter((word) => word !== undefined && word !== '').join(', ')
  return `${path ?? 'note'}${lines}${more === '' ? '' : ` (${more})`}`
}

async function showEvidence(evidence: Evidence, commit: string | undefined, read: ReadCode): Promise<string> {
  const { path, startLine, quote } = evidence
  const hasLocation = commit !== undefined && path !== undefined && startLine !== undefined
  const text = hasLocation ? await read(commit, path) : undefined
  const code = text === undefined ? quote?.replace(/^/gm, '> ') : showLines(text, evidence)
  return [locationOf(evidence), ...(code ? [code] : [])].join('\n')
}

function describeState({ state, dismissal, prURL }: Finding): string {
  if (dismissal !== undefined) {
    const end = dismissal.until === undefined ? '' : ` until ${dismissal.until}`
    return `${state} by ${dismissal.by}${end}: ${dismissal.reason}`
  }
  return prURL === undefined ? state : `${state} ${prURL}`
}

/** What came of its validation; `failed`, which sounds like a fault of the validation, means that it is no weakness. */
export function describeValidation({ validationStatus, validationJSON }: Finding): string {
  const status = validationStatus === 'failed' ? 'no weakness (failed)' : validationStatus
  const { summary } = (tryParseJson(validationJSON ?? '') ?? {}) as { summary?: unknown }
  return typeof summary === 'string' && summary.trim() !== '' ? `${status}: ${summary.trim()}` : status
}

/** Title, facts, code and advice. */
export async function describeFinding(finding: Finding, read: ReadCode): Promise<string> {
  const { id, title, summary, severity, confidence, category, commitSHA, evidence } = finding
  const facts = formatFields([
    ['id', id],
    ['severity', `${severity}, confidence ${confidence}`],
    ['category', category],
    ['state', describeState(finding)],
    ['validation', describeValidation(finding)],
    ['commit', commitSHA],
    ['slice', finding.sliceID],
    ['run', finding.scanRunID],
    ['model', finding.model],
    ['imported from', finding.importedFrom],
  ])
  const code: string[] = []
  for (const one of evidence) code.push(await showEvidence(one, commitSHA, read))
  const sections: [string, string | undefined][] = [
    ['Root cause', finding.rootCause],
    ['How to see it', finding.reproduction],
    ['What to do', finding.remediation],
    ['Test that would fail', finding.suggestedRegressionTest],
  ]
  const advice = sections.flatMap(([name, text]) => (text ? [`${name}: ${text}`] : []))
  return [title, facts, summary, ...code, ...advice].join('\n\n')
}
