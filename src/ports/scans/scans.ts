// Runs of repository scans with what belongs to them, except findings. A record belongs to one scan by its uid: a scan that is
// made again under the same name has none of the former one's. Lists are newest first.
import type {
  DropLayer,
  DroppedFinding,
  ReviewSlice,
  RunMode,
  ScanRun,
  SliceDraft,
  SliceStatus,
  ThreatModel,
} from '../../contract/api/scans/runs.ts'
import type { ScanImport } from '../../contract/api/scans/sarif-routes.ts'

export type { DroppedFinding, ReviewSlice, ScanRun, ThreatModel }

/** The scan that records belong to. */
export type ScanKey = { uid: string; namespace: string; name: string }

/** `after`: the last entry of the page before. */
export type PageQuery = { limit: number; after?: PageCursor | undefined }
export type PageCursor = { order: string; id: string }
/** `next`: absent on the last page. */
export type RecordPage<T> = { items: T[]; next?: PageCursor }

export type DroppedFilter = {
  scanRunID?: string | undefined
  sliceID?: string | undefined
  layer?: DropLayer | undefined
  reason?: string | undefined
  /** A part of the reason, without case. */
  reasonPart?: string | undefined
}

export type NewRun = {
  id: string
  mode: RunMode
  baseCommit?: string | undefined
  /** Commit to scan; absent: the head of the branch. */
  headCommit?: string | undefined
  policyDigest?: string | undefined
  retryOf?: string | undefined
}

export type ScanRunChange = Partial<Omit<ScanRun, 'id' | 'namespace' | 'repositoryScan' | 'mode' | 'startedAt'>>

export type ReviewTotals = {
  reviews: number
  accepted: number
  /** Accepted ones that were not known before. */
  added: number
  /** Duplicates too. */
  dropped: number
  /** Dropped ones that were the same as another of their run. */
  duplicates: number
}

/** What of a slice a run decides. */
type SliceChange = Partial<Pick<ReviewSlice, 'status' | 'error' | 'taskName' | 'lastReviewedAt'>>

export interface Scans {
  /** Conflict while another run of the scan is pending or running; the same id again: the run as it is. */
  startRun(scan: ScanKey, run: NewRun): Promise<ScanRun>
  /** The run that is pending or running. */
  activeRun(scanUid: string): Promise<ScanRun | undefined>
  getRun(scanUid: string, id: string): Promise<ScanRun | undefined>
  /** The run as it is then; a run that has ended stays as it is. Undefined when there is none. */
  changeRun(scanUid: string, id: string, change: ScanRunChange): Promise<ScanRun | undefined>
  /** What its tasks have used, also of a run that has ended. */
  countUsage(scanUid: string, id: string, used: Pick<ScanRun, 'tokens' | 'cost'>): Promise<void>
  listRuns(scanUid: string, page: PageQuery): Promise<RecordPage<ScanRun>>

  /** The slices of the scan from now on, each with its status in the run; others are removed. Again with the same run: nothing. */
  cutSlices(scan: ScanKey, run: string, slices: readonly (SliceDraft & { status: SliceStatus })[]): Promise<void>
  getSlice(scanUid: string, id: string): Promise<ReviewSlice | undefined>
  changeSlice(scanUid: string, id: string, change: SliceChange): Promise<void>
  listSlices(scanUid: string, query: PageQuery & { status?: SliceStatus | undefined }): Promise<RecordPage<ReviewSlice>>

  /** Of the reviews of a run that were stored. */
  reviewTotals(scanUid: string, run: string): Promise<ReviewTotals>

  listDropped(scanUid: string, query: PageQuery & DroppedFilter): Promise<RecordPage<DroppedFinding>>

  getThreatModel(scanUid: string): Promise<ThreatModel | undefined>
  /**
   * The model as it is then. With `unlessEditedSince` an edited one that is newer stays. The same content makes no new version.
   */
  saveThreatModel(
    scan: ScanKey,
    model: Pick<ThreatModel, 'content' | 'source' | 'generatedByScan'>,
    unlessEditedSince?: string,
  ): Promise<ThreatModel>

  /**
   * Calls back when a run was asked for, or a person did something about a finding; undefined: some of it may have been
   * missed. Returns the function that ends it.
   */
  onRequest(hear: (scan: Pick<ScanKey, 'namespace' | 'name'> | undefined) => void): () => void

  /** Uids of scans that have records, in ascending order, after `after`. */
  scanUids(after: string | undefined, limit: number): Promise<string[]>
  /** Removes every record of the scan, its findings and patches too. Harmless when there are none. */
  removeScan(scanUid: string): Promise<void>
}

export type { ScanImport }

export type NewImport = Pick<
  ScanImport,
  'id' | 'tools' | 'resultCount' | 'skippedResults' | 'skippedReasons' | 'createdBy' | 'commitSHA'
> & {
  /** What is to be taken in; kept until the import has ended. */
  content: string
}

export type ImportEnd = Pick<ScanImport, 'phase'> &
  Partial<
    Pick<
      ScanImport,
      | 'commitSHA'
      | 'acceptedFindings'
      | 'newFindings'
      | 'droppedFindings'
      | 'duplicateResults'
      | 'fixedFindings'
      | 'errorMessage'
    >
  >

export interface ScanImports {
  /** Conflict while another import of the scan is under way; the same content again: the import that there is. */
  startImport(scan: ScanKey, draft: NewImport): Promise<ScanImport>
  /** The import that is under way. */
  pendingImport(scanUid: string): Promise<{ record: ScanImport; content: string } | undefined>
  /** What was given is removed. An import that has ended stays as it is. */
  endImport(scanUid: string, id: string, end: ImportEnd): Promise<void>
  getImport(scanUid: string, id: string): Promise<ScanImport | undefined>
  /** Newest first. */
  listImports(scanUid: string, page: PageQuery): Promise<RecordPage<ScanImport>>
}
