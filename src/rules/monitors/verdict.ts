// What a reviewer answers: untrusted text, from which a verdict is read or which is refused with the reason.
import { z } from 'zod'
import { findingConfidences, priorities, reviewVerdicts } from '../../contract/api/monitors/monitor-records.ts'
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import { parse, problemsOf } from '../../contract/schema/validation.ts'
import { tryParseJson } from '../../lib/json.ts'
import type { DiffLines } from './diff-lines.ts'

export const verdictVersion = 'svc.prReview.v1'
/** How many findings of one review are kept. */
export const maxReviewFindings = 50
const text = (max: number) => z.string().transform((value) => value.slice(0, max))

const Finding = z.object({
  priority: z.enum(priorities),
  confidence: z.enum(findingConfidences).default('medium'),
  file: z.string().max(4096).nullish(),
  line: z.int().min(1).nullish(),
  title: text(300).pipe(z.string().min(1)),
  body: text(8000),
  recommendation: text(8000).nullish(),
})
/** A finding as the reviewer gave it. */
export type ReportedFinding = z.infer<typeof Finding>

const ReviewerAnswer = z.object({
  schemaVersion: z.literal(verdictVersion),
  repo: z.string(),
  prNumber: z.int(),
  headSHA: z.string(),
  verdict: z.enum(reviewVerdicts),
  confidence: z.enum(findingConfidences),
  repairable: z.boolean().default(false),
  summary: text(8000),
  suggestedComment: text(8000).nullish(),
  findings: z.array(Finding).max(maxReviewFindings).default([]),
  security: z.object({ status: z.enum(['clear', 'needs_human', 'security_sensitive']), notes: z.string().nullish() }),
})
export type ReviewerAnswer = z.infer<typeof ReviewerAnswer>

/** What was asked to be reviewed. */
export type ReviewSubject = { repo: string; number: number; headSHA: string }

export type ReadVerdict = { verdict: ReviewerAnswer } | { problem: string }

/** The first `{...}` that is balanced outside of strings. A string without an end goes to the end of the text, so that it is read once. */
function findObject(source: string): string | undefined {
  const start = Math.max(0, source.indexOf('{'))
  const text = source.slice(start)
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:\\.|[^"\\])*(?:"|\\?$)|[{}]/gs)) {
    if (token.startsWith('"')) continue
    depth += token === '{' ? 1 : -1
    if (depth === 0) return text.slice(0, index + 1)
  }
  return undefined
}

function findMismatch({ repo, prNumber, headSHA }: ReviewerAnswer, subject: ReviewSubject): string | undefined {
  if (repo.toLowerCase() !== subject.repo.toLowerCase()) return `it is about ${repo}, not ${subject.repo}`
  if (prNumber !== subject.number) return `it is about pull request ${prNumber}, not ${subject.number}`
  return headSHA.toLowerCase() === subject.headSHA ? undefined : `it is about commit ${headSHA}, not ${subject.headSHA}`
}

/** A line that the diff does not show is left out: what is said there may be true, but not of that line. */
function dropUnshownLine(finding: ReportedFinding, lines: DiffLines): ReportedFinding {
  const { file, line } = finding
  if (line == null || lines.get(file ?? '')?.shown.has(line)) return finding
  return { ...finding, line: null }
}

/** The verdict in the result of the reviewer's task, held to what was asked and to the lines of the diff. */
export function readVerdict(result: string, subject: ReviewSubject, lines: DiffLines): ReadVerdict {
  const summary = readStructuredResult(result).summary
  const value = tryParseJson(summary.trim()) ?? tryParseJson(findObject(summary) ?? '')
  if (value === undefined) return { problem: 'the answer of the reviewer has no JSON in it' }
  const parsed = parse(ReviewerAnswer, value)
  if (!parsed.success) {
    const [first] = problemsOf(parsed.error)
    return { problem: `the answer of the reviewer does not have the form asked for: ${first?.path} ${first?.message}` }
  }
  const problem = findMismatch(parsed.data, subject)
  if (problem !== undefined) return { problem: `the answer of the reviewer is not used: ${problem}` }
  const findings = parsed.data.findings.map((finding) => dropUnshownLine(finding, lines))
  return { verdict: { ...parsed.data, findings } }
}
