// The structured result of a task that worked in a git repository: what it said, with what it changed.
import { Readable } from 'node:stream'
import {
  readStructuredResult,
  type StructuredResult,
  structuredResultType,
} from '../../contract/api/tasks/structured-result.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import { contentTypeOf } from '../../contract/values/content-type.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { Artifacts } from '../../ports/tasks/artifacts.ts'
import type { Results } from '../../ports/tasks/results.ts'
import type { AttemptKey, CheckoutChanges, CommandOutput } from '../../ports/tasks/workloads.ts'

/** Of what was said; the log has all of it. */
const longestAnswer = 1024 * 1024

/** `output`: of a command; what a worker says is its result so far. */
export type AttemptChanges = { changes: CheckoutChanges; output?: CommandOutput | undefined }

/** Replaces the result of the attempt, and may be called again. */
export async function saveChanges(
  results: Results,
  key: AttemptKey,
  { changes, output }: AttemptChanges,
): Promise<void> {
  const said = output?.text ?? (await readResultText(results, key, longestAnswer)) ?? ''
  const result = combine(readStructuredResult(said), changes)
  await results.put(key, Readable.from([Buffer.from(JSON.stringify(result))]), structuredResultType)
}

/** Keeps the diff of an attempt that has not succeeded beside the other files of its task. */
export async function saveDiff(artifacts: Artifacts, key: AttemptKey, filename: string, diff: string): Promise<void> {
  const contentType = contentTypeOf(filename)
  await artifacts.put(key, { filename, contentType, body: Readable.from([Buffer.from(diff)]) })
}

/** What the service alone says: neither a program's claims nor an earlier state of the push are kept. */
const unsaid = {
  headSHA: undefined,
  branch: undefined,
  pushBranch: undefined,
  pushError: undefined,
} satisfies Partial<StructuredResult>

function combine(said: StructuredResult, { diff, ...changes }: CheckoutChanges): StructuredResult {
  return dropUndefined({
    ...said,
    ...unsaid,
    ...changes,
    diff: diff.text,
    diffTruncated: diff.truncated || undefined,
    files: diff.files.map(({ path }) => path),
  })
}
