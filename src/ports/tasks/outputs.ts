// What attempts leave: one result of at most 10 MiB (TASK-058), artifacts, checkpoints, logs, files and plans.

import type { Readable } from 'node:stream'
import type { LineLevel, LogMark, LogStream } from '../../contract/api/tasks/log-marks.ts'
import type { ParkWait } from '../../contract/api/tasks/parking.ts'
import type { StepReport } from '../../contract/api/tasks/steps.ts'
import type { UsageRecord } from '../budgets/usage.ts'
import type { AttemptKey } from './workloads.ts'

/** `filename` is the path within the workspace, separated by `/`. */
export type ArtifactInfo = AttemptKey & { filename: string; contentType: string; size: number; createdAt: string }

export interface Artifacts {
  /**
   * Streams the body to storage. Overwrites a file of the same name, also from an earlier attempt. Conflict when a
   * later attempt has stored that name; TooLarge; InvalidRequest for a bad name; StorageFull; ClientClosed. After an error the body is left paused: neither
   * read to its end nor destroyed.
   */
  put(key: AttemptKey, file: { filename: string; contentType: string; body: Readable }): Promise<ArtifactInfo>
  /** The newest attempt's file for each name, sorted by name. */
  list(taskUid: string): Promise<ArtifactInfo[]>
  open(taskUid: string, filename: string): Promise<{ info: ArtifactInfo; open(): Readable } | undefined>
  removeTask(taskUid: string): Promise<void>
}

export interface Checkpoints {
  /**
   * Replaces the task's checkpoint: JSON text of at most 10 MiB. Conflict, and no change, when a later attempt has
   * saved.
   */
  save(key: AttemptKey, state: string): Promise<void>
  /**
   * Adds what changed since the attempt saved its state: JSON text of at most 1 MiB, numbered from 1. A number that
   * exists already is ignored, so a repeated call is harmless. Conflict when the previous number is missing, when the
   * attempt has saved no state, or when a later attempt has.
   */
  append(key: AttemptKey, number: number, change: string): Promise<void>
  /** The newest checkpoint of the task, from any attempt: the saved state, and the changes in order. */
  load(taskUid: string): Promise<{ attempt: number; state: string; changes: string[] } | undefined>
  removeTask(taskUid: string): Promise<void>
}

/** What an attempt hands in with its end. */
export type HandedIn = AttemptKey & {
  namespace: string
  /** Plain text. Absent: it has none, or has stored it. */
  result?: string | undefined
  usage: readonly UsageRecord[]
  /** What the task waits for, as `Parkings.park` takes it. */
  waits?: readonly ParkWait[] | undefined
  steps?: readonly StepReport[]
}

export interface AttemptEnds {
  /** All of it or nothing. Repeating is harmless. Conflict when a later attempt has parked; StorageFull. */
  store(end: HandedIn): Promise<void>
}

/** A line as it is appended; text alone is output as of now. */
export type LogDraft = string | ({ text: string } & Partial<LogMark>)

/** Lines that were stored before they had marks have neither time nor stream. */
export type LogLine = Partial<LogMark> & {
  /** Increases by one per line across all attempts of the task; the SSE id (TASK-052). */
  seq: number
  attempt: number
  text: string
}

/**
 * Which lines: after `afterSeq` (default: from the oldest kept), of one attempt, of one stream, written at `since` or later, output or at least
 * of a level, and of these only the last `tailLines`.
 */
export type LogQuery = {
  afterSeq?: number | undefined
  tailLines?: number | undefined
  attempt?: number | undefined
  stream?: LogStream | undefined
  since?: Date | undefined
  level?: LineLevel | undefined
}

/** What an attempt has written so far of a line that has no end yet. */
export type UnfinishedLine = { attempt: number; text: string }

export interface Logs {
  /**
   * Appends whole lines (without the line end; longer than 64 KiB are cut and say so). NUL and lone surrogates are
   * kept. A line without a time is one of now. `unfinished` is what there is of the line after them, in place of what there was before; left out, that stays
   * as it is. It is not a line, has no number, and may be lost with the process.
   */
  append(key: AttemptKey, lines: readonly LogDraft[], unfinished?: string): Promise<void>
  /** Undefined when the last line of the task has its end. */
  unfinished(taskUid: string): Promise<UnfinishedLine | undefined>
  /** What the attempt left unfinished becomes a line; what another attempt is writing stays. For when the attempt is over. */
  finishLine(key: AttemptKey): Promise<void>
  /** In the order of their numbers. */
  read(taskUid: string, query: LogQuery): AsyncIterable<LogLine>
  /**
   * Calls back when lines were added to the task, or the unfinished one has changed; returns the unsubscribe function.
   */
  onAppend(taskUid: string, listener: () => void): () => void
  removeTask(taskUid: string): Promise<void>
}

export type Plan = {
  taskUid: string
  namespace: string
  taskName: string
  iteration: number
  summary: string
  /** 0..100. */
  progressPct: number
  goalComplete: boolean
  planDocument: string
  createdAt: string
  updatedAt: string
}

/** A plan as it was saved once. */
export type StoredPlan = Pick<Plan, 'iteration' | 'summary' | 'progressPct' | 'goalComplete' | 'planDocument'> & {
  /** From 1 for each task, rising with each save. */
  number: number
  savedAt: string
}

export interface Plans {
  /**
   * Inserts or replaces the plan of the task; createdAt stays. It is also the newest version; the oldest ones are dropped
   * when there are too many (`planLimits`).
   */
  save(plan: Omit<Plan, 'createdAt' | 'updatedAt'>): Promise<Plan>
  get(taskUid: string): Promise<Plan | undefined>
  /** Newest first; `before`: only with a smaller number. */
  history(taskUid: string, page: { limit: number; before?: number | undefined }): Promise<StoredPlan[]>
  removeTask(taskUid: string): Promise<void>
}

export type ResultInfo = AttemptKey & { size: number; contentType: string; createdAt: string }

export interface Results {
  /**
   * Streams the body to storage; replaces an earlier result of the attempt. TooLarge beyond 10 MiB, InvalidRequest when
   * empty, StorageFull when the disk is, ClientClosed when the body breaks off. A failed write leaves the earlier
   * result unchanged, and the body paused: neither read to its end nor destroyed. Durable when it resolves.
   */
  put(key: AttemptKey, body: Readable, contentType: string): Promise<ResultInfo>
  /** The result of the attempt, or of the newest attempt that has one. */
  get(taskUid: string, attempt?: number): Promise<{ info: ResultInfo; open(): Readable } | undefined>
  /** Removes all results of the task. Harmless when there are none. */
  removeTask(taskUid: string): Promise<void>
}
