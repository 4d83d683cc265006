// Findings of scanners, checked against the files at a commit like those of reviewers: what does not stand there is dropped.
import type { IncludedFile } from './review-context.ts'
import { type IngestedReview, ingestItems, type Review } from './review-ingest.ts'
import { type ImportedItem, listItemPaths, mostResults, readSarif } from './sarif-import.ts'

export type SarifImport = Pick<Review, 'text' | 'run' | 'known' | 'readSource'>

/** By scanner. */
export type ImportedFindings = { byTool: Map<string, IngestedReview>; skipped: number }

/** Nothing of a scanner is shown to anybody: each file that it names is there whole, or is not. */
async function includeFiles(items: readonly ImportedItem[], readSource: Review['readSource']): Promise<IncludedFile[]> {
  const included: IncludedFile[] = []
  for (const path of listItemPaths(items)) {
    const source = await readSource(path)
    if (source === undefined) continue
    const includedLineRanges = [{ startLine: 1, endLine: source.lines.length }]
    const size = { bytes: 0, includedBytes: 0 }
    included.push({
      path,
      role: 'owned',
      ...size,
      includedLineRanges,
      truncated: false,
      readable: true,
      skippedReason: null,
    })
  }
  return included
}

/** A fault when the file is no SARIF, and says what to do. */
export async function ingestSarif(given: SarifImport): Promise<ImportedFindings | { fault: string }> {
  const answer = readSarif(given.text)
  if ('fault' in answer) return answer
  const includedFiles = await includeFiles(answer.items, given.readSource)
  const byTool = new Map<string, IngestedReview>()
  let known = given.known
  for (const [tool, items] of Map.groupBy(answer.items, (one) => one.tool)) {
    const cap = { most: mostResults, left: mostResults }
    const review = { ...given, known, sliceId: tool, context: { includedFiles }, cap, mostCandidates: mostResults }
    const ingested = await ingestItems(
      review,
      items.map(({ item }) => item),
    )
    // Two scanners see the same weakness.
    known = [...known, ...ingested.accepted]
    byTool.set(tool, ingested)
  }
  return { byTool, skipped: answer.skipped }
}
