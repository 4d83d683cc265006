// Findings of repository scans, and the patches that were proposed for them. They belong to one scan by its uid.
import type { Finding, FindingDraft, FindingOrigin, PatchProposal } from '../../contract/api/scans/findings.ts'
import type { DropLayer } from '../../contract/api/scans/runs.ts'
import type { FindingCounts } from '../../contract/kinds/scans/repository-scan.ts'
import type { PageQuery, RecordPage, ScanKey } from './scans.ts'

export type { Finding, FindingDraft, PatchProposal }

export type FindingFilter = {
  severity?: Finding['severity'] | undefined
  validationStatus?: Finding['validationStatus'] | undefined
  state?: Finding['state'] | undefined
  sliceID?: string | undefined
  category?: string | undefined
  /** Only candidates for a remedy, the most pressing first. */
  recommended?: boolean | undefined
}

export type DroppedDraft = { id: string; reason: string; layer: DropLayer; sampleJSON?: string | undefined }

/** What a review that succeeded says about its slice. */
export type ReviewOutcome = {
  run: string
  /** The slice that was reviewed; absent of an import. */
  slice?: string | undefined
  /** Of an import: which part of it. */
  part?: string | undefined
  taskName: string
  /** When the run began; absent: its commit may be an older one. */
  startedAt?: string | undefined
  /** Files that the review covered: a finding in them that it does not report is fixed. */
  covered: readonly string[]
  accepted: readonly FindingDraft[]
  dropped: readonly DroppedDraft[]
  origin: Omit<FindingOrigin, 'scanRunID' | 'scanTaskName' | 'sliceID'>
}

/** A finding with the uid of its scan. */
export type MatchedFinding = { scanUid: string; finding: Finding }

export interface Findings {
  /**
   * Stores a review in one step: its findings, what was dropped, and the slice as reviewed. A finding that is known is
   * brought up to date; one that was fixed is open again. Once for each run and slice, or part: again, nothing
   * changes, and false.
   */
  recordReview(scan: ScanKey, outcome: ReviewOutcome): Promise<boolean>
  get(namespace: string, id: string): Promise<MatchedFinding | undefined>
  list(scanUid: string, query: PageQuery & FindingFilter): Promise<RecordPage<Finding>>
  /** What a review may report again: findings in these files, and the last ones of all others. */
  listKnown(scanUid: string, paths: readonly string[]): Promise<Finding[]>
  /** Files in which findings are neither dismissed nor fixed, in no particular order. */
  openPaths(scanUid: string): Promise<string[]>
  /** Findings in these files that are neither dismissed nor fixed. */
  listOpen(scanUid: string, paths: readonly string[]): Promise<Finding[]>
  /** Findings that are neither dismissed nor fixed. */
  count(scanUid: string): Promise<FindingCounts>
  /**
   * Stores what `decide` makes of the finding, which nobody else changes meanwhile; it may throw. The finding as it is
   * then; undefined when there is none.
   */
  change(namespace: string, id: string, decide: (finding: Finding) => Finding): Promise<Finding | undefined>
  /** Findings whose dismissal has run out by then, become open. */
  endDismissals(scanUid: string, now: Date): Promise<number>
  /** When the next dismissal runs out. */
  nextDismissalEnd(scanUid: string): Promise<Date | undefined>

  /** Together with what becomes of the finding. The same id again: the proposal as it is. */
  proposePatch(
    scanUid: string,
    patch: Omit<PatchProposal, 'createdAt' | 'updatedAt'>,
    decide: (finding: Finding) => Finding,
  ): Promise<PatchProposal>
  /** Newest first. */
  listPatches(findingId: string): Promise<PatchProposal[]>
  /** Proposals and validations of the scan that are not decided yet. */
  listUndecided(scanUid: string): Promise<{ patches: PatchProposal[]; validating: Finding[] }>
  /** Stores what `decide` makes of a proposal and its finding, in one step. */
  decidePatch(
    findingId: string,
    id: string,
    decide: (patch: PatchProposal, finding: Finding) => { patch: PatchProposal; finding: Finding },
  ): Promise<PatchProposal | undefined>
}
