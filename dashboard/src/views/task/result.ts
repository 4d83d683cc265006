// What a task has left as its result: text, JSON, or the shape of a task that worked in a repository.
import type { StructuredResult } from '../../../../src/contract/api/tasks/structured-result.ts'
import { isJsonObject, tryParseJson } from '../../../../src/lib/json.ts'

type ChangesOfResult = Pick<StructuredResult, 'diff' | 'diffTruncated' | 'baseSHA' | 'headSHA' | 'branch'> &
  Pick<StructuredResult, 'pushBranch' | 'pushError' | 'verdict' | 'feedback' | 'data'>

export type ReadResult =
  | { sort: 'text'; text: string }
  | { sort: 'json'; value: unknown }
  | { sort: 'work'; summary: string; work: ChangesOfResult }

const textFields = [
  ...(['diff', 'baseSHA', 'headSHA', 'branch'] as const),
  ...(['pushBranch', 'pushError', 'verdict', 'feedback'] as const),
]

/** Programs write the fields as well: what is not as it should be is left out. */
function readWork(value: Record<string, unknown>): ChangesOfResult {
  const work: Record<string, unknown> = {}
  for (const name of textFields) if (typeof value[name] === 'string') work[name] = value[name]
  if (value.diffTruncated === true) work.diffTruncated = true
  if (isJsonObject(value.data)) work.data = value.data
  return work
}

export function readResult(text: string): ReadResult {
  const value = /^\s*[[{]/.test(text) ? tryParseJson(text) : undefined
  if (isJsonObject(value) && value.version === 1 && typeof value.summary === 'string') {
    return { sort: 'work', summary: value.summary, work: readWork(value) }
  }
  return typeof value === 'object' && value !== null ? { sort: 'json', value } : { sort: 'text', text }
}

/** How many files the work in a repository changed; undefined where there was none. */
export function countChanges(result: ReadResult): number | undefined {
  if (result.sort !== 'work' || result.work.diff === undefined) return undefined
  // Lines of what was changed begin with another character.
  return result.work.diff.split('\n').filter((line) => line.startsWith('diff --git ')).length
}
