// What a monitor keeps: runs, pull requests, reviews, findings, publishings and events. All of it goes with the monitor.
import type {
  MonitorEvent,
  MonitorFinding,
  MonitorItem,
  MonitorReviewRecord,
  MonitorRun,
  PublishPhase,
  RunTrigger,
} from '../../contract/api/monitors/monitor-records.ts'

export type { MonitorEvent, MonitorFinding, MonitorItem, MonitorReviewRecord, MonitorRun, PublishPhase }

/** One life of a monitor: one that is deleted and made again has another uid, and sees nothing of the old one. */
export type MonitorKey = { uid: string; namespace: string; name: string }

type Owned<T> = Omit<T, 'monitorNamespace' | 'monitorName'>

export type RunDraft = Pick<MonitorRun, 'id' | 'trigger' | 'targetKind' | 'targetNumber' | 'targetSHA' | 'requestedBy'>
export type EventDraft = Omit<Owned<MonitorEvent>, 'id' | 'createdAt'>

/**
 * `queued`: the run is new. `cached`: one that is queued for the same commit will do. `repeated`: the id was used before.
 */
export type Queued = { outcome: 'queued' | 'cached' | 'repeated'; run: MonitorRun }

/** What a run changes about itself as it goes on. */
export type RunChange = Partial<
  Pick<MonitorRun, 'completedAt' | 'selectedCount' | 'createdTaskCount' | 'skippedCount' | 'error'>
> & { phase?: 'running' | 'succeeded' | 'failed'; heldUpUntil?: string | undefined }

/** A pull request with what only the monitor itself needs. */
export type ItemState = Owned<MonitorItem> & {
  /** Of a review that is under way: its run, and how far it is. */
  progress?: ReviewProgress
  /** How many reviews in a row came to nothing, and before when none is tried again by itself. */
  failures?: number
  retryAt?: string
  /** When the publishing of the last review is tried again. */
  publishRetryAt?: string
  /** The review that a person wants to be published, whatever the monitor publishes by itself. */
  publishWish?: string
}

/** A review that is under way. */
export type ReviewProgress = {
  runID: string
  isTargeted: boolean
  stage: 'validating' | 'reviewing'
  validation?: MonitorReviewRecord['validation']
}

/** A finding that was made in a pull request, whatever the review. */
export type StoredFinding = Pick<MonitorFinding, 'id' | 'priority' | 'file' | 'title'> & {
  number: number
  /** The text of the line, by which it is known again when lines have moved. */
  anchor?: string
  shownAt?: string
  dismissedAt?: string
}

/** One attempt to publish a review. */
export type Publishing = {
  id: string
  number: number
  headSHA: string
  reviewID: string
  phase: PublishPhase
  reason?: string
  error?: string
  url?: string
  /** Ids of the findings that it shows. */
  findings: string[]
  startedAt: string
  endedAt?: string
}

export type Page = { limit: number; before?: readonly [string, string] | undefined }
export type RunQuery = Page & { trigger?: RunTrigger | undefined; targetKind?: string | undefined }
export type ItemQuery = Page & {
  kind?: string | undefined
  number?: number | undefined
  state?: string | undefined
  verdict?: string | undefined
  repairState?: string | undefined
  automergeState?: string | undefined
}
export type ReviewQuery = Page & { number?: number | undefined }
export type EventQuery = Page & {
  runID?: string | undefined
  itemKind?: string | undefined
  itemNumber?: number | undefined
  eventType?: string | undefined
}

export type ItemCounts = { open: number; pending: number; blocked: number; skipped: number }

export interface MonitorRecords {
  /**
   * Queues a run with its first event, in one step. Of two that ask for the same commit while none has started, one is
   * queued. Conflict for a `manual` or `schedule` run while any run is queued or running.
   */
  queueRun(monitor: MonitorKey, draft: RunDraft, event: EventDraft): Promise<Queued>
  /** The run that is under way, else the one that was queued first, which then is under way. At most one is. */
  takeRun(monitor: MonitorKey): Promise<MonitorRun | undefined>
  changeRun(monitor: MonitorKey, id: string, change: RunChange): Promise<void>
  /** Ends a run that waits, as one that found nothing to review, with its event in one step. False when it does not wait. */
  withdrawRun(monitor: MonitorKey, id: string, event: EventDraft): Promise<boolean>
  /** Last queued first; `before` has the time and id of the last one on the page before. */
  listRuns(monitor: MonitorKey, query: RunQuery): Promise<MonitorRun[]>
  hasActiveRun(monitor: MonitorKey): Promise<boolean>

  getItem(monitor: MonitorKey, number: number): Promise<ItemState | undefined>
  putItem(monitor: MonitorKey, item: ItemState): Promise<void>
  /** Last changed first; `before` has the time and key of the last one on the page before. */
  listItems(monitor: MonitorKey, query: ItemQuery): Promise<MonitorItem[]>
  /** Those whose review or publishing is under way. */
  listUnderWay(monitor: MonitorKey): Promise<ItemState[]>
  /** Open ones that no run has seen since. */
  listUnseen(monitor: MonitorKey, since: string): Promise<ItemState[]>
  countItems(monitor: MonitorKey): Promise<ItemCounts>

  /** Stores a review once for each id, with the findings that are new in the pull request. */
  addReview(monitor: MonitorKey, review: Owned<MonitorReviewRecord>, found: readonly StoredFinding[]): Promise<void>
  getReview(monitor: MonitorKey, id: string): Promise<MonitorReviewRecord | undefined>
  /** Newest first; `before` has the time and id of the last one on the page before. */
  listReviews(monitor: MonitorKey, query: ReviewQuery): Promise<MonitorReviewRecord[]>
  listFindings(monitor: MonitorKey, number: number): Promise<StoredFinding[]>
  /** False when there is no such finding. */
  setDismissed(monitor: MonitorKey, finding: { number: number; id: string }, dismissed: boolean): Promise<boolean>

  /** False when the same commit is being published, or was. */
  startPublishing(monitor: MonitorKey, publishing: Publishing): Promise<boolean>
  /** Stores the end of one, or one that ended before it began; its findings count as shown when it succeeded. */
  endPublishing(monitor: MonitorKey, publishing: Publishing): Promise<void>
  /** Newest first. */
  listPublishings(monitor: MonitorKey, number: number): Promise<Publishing[]>

  append(monitor: MonitorKey, event: EventDraft): Promise<void>
  /** Newest first; `before` has the time and id of the last one on the page before. */
  listEvents(monitor: MonitorKey, query: EventQuery): Promise<MonitorEvent[]>

  /** Uids of monitors that have records, in ascending byte order after `after`, at most `limit`. */
  monitorUids(after: string | undefined, limit: number): Promise<string[]>
  removeMonitor(uid: string): Promise<void>
  /** Removes runs that have ended, reviews and events that are older. */
  sweep(before: Date): Promise<number>
}
