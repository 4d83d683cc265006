// The requirement ids as data: which there are, which wait, and how a test cites one.
import { readSource } from './source-tree.ts'

function readRows(path: string): string[][] {
  const [, ...rows] = readSource(path).trimEnd().split('\n')
  return rows.map((row) => row.split('\t'))
}

/** Every id, in the order of the list. */
export const requiredIds = readRows('test/scenarios/requirements.tsv').map(([id]) => id ?? '')

/** Ids that nothing proves yet, with what each waits for. */
export const pendingIds = new Map(
  readRows('test/scenarios/pending.tsv').map(([id, reason]) => [id ?? '', reason ?? '']),
)

/** The ids that a test's name cites. */
export function readCitations(name: string): string[] {
  return name.match(/\b[A-Z]+-\d{3}\b/g) ?? []
}
