// Findings of a scanner, checked against the files at a commit like those of reviewers: what does not stand there is dropped.
import type { JsonObject } from '../../lib/json.ts'
import { readCandidateEvidence } from './candidate.ts'
import { checkEvidence, type SourceText } from './finding-evidence.ts'
import type { IncludedFile } from './review-context.ts'
import { type IngestedReview, ingestItems, type SliceReview } from './review-ingest.ts'
import { type ImportedItem, pathOfItem, type ToolReport } from './sarif-import.ts'
import { maxResults } from './sarif-log.ts'

/** Some results of a scanner, and the files that they name. */
export type ResultBatch = { items: ImportedItem[]; paths: string[] }

const maxBatchBytes = 16 * 1024 * 1024

/**
 * Results in parts whose files fit into memory together; those of one file stay together. `sizeOf`: bytes; undefined of what
 * is no file of the tree.
 */
export function batchResults(
  items: readonly ImportedItem[],
  sizeOf: (path: string) => number | undefined,
): ResultBatch[] {
  const batches: ResultBatch[] = []
  let left = 0
  for (const [path, own] of Map.groupBy(items, pathOfItem)) {
    const bytes = sizeOf(path) ?? 0
    if (batches.length === 0 || bytes > left) {
      batches.push({ items: [], paths: [] })
      left = Math.max(0, maxBatchBytes - bytes)
    } else left -= bytes
    batches.at(-1)?.items.push(...own)
    batches.at(-1)?.paths.push(path)
  }
  return batches
}

/** What a scanner that ran in a folder of the repository names from there. */
export function locateReport(
  report: ToolReport,
  has: (path: string) => boolean,
  folder: string | undefined,
): ToolReport {
  const toTreePath = (path: string) =>
    folder !== undefined && !has(path) && has(`${folder}/${path}`) ? `${folder}/${path}` : path
  const move = (evidence: JsonObject) => ({ ...evidence, path: toTreePath(String(evidence.path)) })
  const items = report.items.map(({ item, related }) => ({
    item: { ...item, evidence: item.evidence.map(move) },
    related: related.map(move),
  }))
  return { ...report, items, files: report.files.map(toTreePath) }
}

export type BatchReview = Pick<SliceReview, 'run' | 'known' | 'readSource'> & {
  batch: ResultBatch
  /** Tells the batch from others of the same import. */
  part: string
}

/** Nothing of a scanner is shown to anybody: each file that it names is there whole, or is not. */
function include(path: string, source: SourceText): IncludedFile {
  const size = { bytes: 0, includedBytes: 0 }
  const includedLineRanges = [{ startLine: 1, endLine: source.lines.length }]
  return { path, role: 'owned', ...size, includedLineRanges, truncated: false, readable: true, skippedReason: null }
}

type Sources = Map<string, SourceText>

function isTrue(evidence: JsonObject, sources: Sources): boolean {
  const candidate = readCandidateEvidence(evidence)
  const source = sources.get(candidate.path)
  if (source === undefined) return false
  const shown = new Map([[candidate.path, [{ startLine: 1, endLine: source.lines.length }]]])
  return 'quote' in checkEvidence(candidate, shown, source)
}

/** Further evidence that is not true says nothing against the finding: what is true, and in a file of the batch, is added. */
function withRelated({ item, related }: ImportedItem, sources: Sources): JsonObject {
  return { ...item, evidence: [...item.evidence, ...related.filter((one) => isTrue(one, sources))] }
}

export async function ingestBatch({ batch, part, ...options }: BatchReview): Promise<IngestedReview> {
  const sources: Sources = new Map()
  for (const path of batch.paths) {
    const source = await options.readSource(path)
    if (source !== undefined) sources.set(path, source)
  }
  const includedFiles = [...sources].map(([path, source]) => include(path, source))
  const cap = { max: maxResults, left: maxResults }
  const review = { ...options, sliceId: part, context: { includedFiles }, cap, maxCandidates: maxResults }
  return ingestItems(
    review,
    batch.items.map((one) => withRelated(one, sources)),
  )
}
