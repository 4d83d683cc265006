// The result of a task that worked in a git repository: JSON that holds what was said and what was changed.
import { z } from 'zod'
import { tryParseJson } from '../../../lib/json.ts'
import { field } from '../../schema/field.ts'

/** The content type of such a result; that of any other is `text/plain`. */
export const structuredResultType = 'application/json; charset=utf-8'

/** Longest summary, in characters. */
const maxSummaryLength = 32 * 1024

/** Result of a task with a git workspace, version 1. Fields that a program adds itself are kept. */
export const StructuredResult = z.looseObject({
  version: field(z.literal(1), 'Version of this shape.'),
  summary: field(z.string(), 'What the task says it did: the answer, or the end of the output.', 'The test is fixed.'),
  baseSHA: field(z.string().optional(), 'Commit that was checked out.', '3f0a5c1d'),
  headSHA: field(z.string().optional(), 'Commit with the changes. Absent: nothing was changed.', '8b1e77aa'),
  branch: field(z.string().optional(), 'Branch that was checked out.', 'main'),
  diff: field(z.string().optional(), 'The changes as a unified diff, which `git apply` takes.'),
  diffTruncated: field(z.boolean().optional(), 'Whether changes are missing from the diff because it is too large.'),
  files: field(z.array(z.string()).optional(), 'Paths of the changed files.', ['src/main.py']),
  pushBranch: field(z.string().optional(), 'Branch that the commit was pushed to.', 'svc/fix-tests'),
  pushError: field(z.string().optional(), 'Why it was not pushed, and what to do.'),
  verdict: field(z.string().optional(), 'Verdict of a review, as the program gave it.', 'approved'),
  feedback: field(z.string().optional(), 'Feedback of a review, as the program gave it.'),
  data: field(z.record(z.string(), z.unknown()).optional(), 'Further values, as the program gave them.', {}),
})
export type StructuredResult = z.infer<typeof StructuredResult>

/** A structured result as it is; any other text becomes the summary. */
export function readStructuredResult(text: string): StructuredResult {
  const parsed = text.trimStart().startsWith('{') ? StructuredResult.safeParse(tryParseJson(text)) : undefined
  const result = parsed?.success ? parsed.data : { version: 1 as const, summary: text }
  return { ...result, summary: cutSummary(result.summary) }
}

function cutSummary(text: string): string {
  return text.length <= maxSummaryLength ? text : `${text.slice(0, maxSummaryLength)}\n[truncated]`
}
