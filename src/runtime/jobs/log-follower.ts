// Follows the log of one container into the Logs port while it runs, and collects its output. Resumes after a broken
// connection; after a restart the service reads the log again and skips what is stored.
import type { KubernetesApi } from '../../cluster/api.ts'
import { noteForLog } from '../../contract/api/tasks/log-marks.ts'
import { isSvcError, messageOf } from '../../errors.ts'
import { type Backoff, delayMs } from '../../lib/backoff.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { OutputTail } from '../../lib/output-tail.ts'
import type { Redactor } from '../../observability/redaction.ts'
import type { Logs } from '../../ports/tasks/outputs.ts'
import type { AttemptKey } from '../../ports/tasks/workloads.ts'
import {
  countStored,
  createIntake,
  type Intake,
  readLastSeq,
  type Stored,
  type StoredLogPosition,
  type WrittenLine,
} from './log-intake.ts'
import { createLogReader, createLogSieve, type LogSieve, writeSecond } from './log-stream.ts'
import { containerName, pods, streamsName } from './objects.ts'
import { createPlainReader, createRecordReader, type RecordReader } from './streams/launch.ts'

export type FollowedLog = {
  key: AttemptKey
  namespace: string
  pod: string
  /** Whether a sidecar writes it, in marked lines. */
  hasSeparateStreams: boolean
  redact: Redactor
  tail: OutputTail
  /** How far an earlier run of the service had come, if it recorded that. */
  position: StoredLogPosition | undefined
  /** Whether the container has ended: then the end of the stream is the end of the log. */
  isOver(): boolean
  /** Records from time to time how far the log is stored. */
  savePosition(position: StoredLogPosition): Promise<void>
}

export type FollowerOptions = { api: KubernetesApi; logs: Logs; clock: Clock; ids: Pick<Ids, 'random'> }

export type LogFollower = {
  /** Resolves when everything is stored, or cannot be read; never rejects. */
  done: Promise<void>
  /** The last part of stderr; undefined when it is not separate. */
  errorTail(): string | undefined
  /** Since when it has been waiting for bytes; undefined while it processes some. */
  waitsSince(): Date | undefined
  stop(): Promise<void>
}

/** How often the log is read again after the end of the container. */
const triesAfterEnd = 6
const backoff: Backoff = { firstMs: 250, maxMs: 5000 }
/** The only unlimited wait: for an unavailable store, so that no lines are lost. */
const storePauseMs = 1000
/** A log that was rotated can end early for a follower, so it is read once more after the container's end. */
const rotatedBytes = 1024 * 1024
const savedEachBytes = 1024 * 1024

type Reading = FollowerOptions & {
  log: FollowedLog
  signal: AbortSignal
  sieve: LogSieve
  records: RecordReader
  progress: Progress
}

type Progress = {
  intake: Intake | undefined
  received: number
  waitsSince: Date | undefined
  /** The log itself marks its end. */
  isOver: boolean
}

async function store({ logs, clock }: FollowerOptions, log: FollowedLog, lines: WrittenLine[], signal: AbortSignal) {
  for (;;) {
    try {
      return await logs.append(
        log.key,
        lines.map((line) => ({ ...line, text: log.redact(line.text) })),
      )
    } catch (error) {
      // Any other error of the store is permanent: the attempt continues without these lines.
      if (!isSvcError(error, 'Unavailable')) return
      await clock.sleep(storePauseMs, signal)
    }
  }
}

/** Records from time to time how far the log is stored. */
function createPositionKeeper({ logs }: FollowerOptions, log: FollowedLog) {
  let sinceSaved = 0
  return async (stamp: bigint, bytes: number): Promise<void> => {
    sinceSaved += bytes
    if (sinceSaved < savedEachBytes) return
    sinceSaved = 0
    try {
      await log.savePosition({ stamp, seq: await readLastSeq(logs, log.key.taskUid) })
    } catch {
      // The next time will do.
    }
  }
}

async function takeChunk(
  reading: Reading,
  reader: ReturnType<typeof createLogReader>,
  chunk: Uint8Array,
): Promise<void> {
  const { sieve, records, progress } = reading
  progress.waitsSince = undefined
  progress.received += chunk.length
  for (const part of reader.push(chunk)) {
    const bytes = sieve.take(part)
    const record = bytes.length > 0 ? records.take({ ...part, bytes }) : undefined
    if (record === 'over') progress.isOver = true
    else if (record !== undefined) progress.intake?.write(record)
  }
  await progress.intake?.flush()
}

/** Reads once, to the end of the stream, or to the end mark of the log. */
async function readOnce(reading: Reading): Promise<void> {
  const { api, clock, log, signal, sieve, progress } = reading
  const from = sieve.rewind()
  const sinceTime = from === undefined ? undefined : writeSecond(from)
  const container = log.hasSeparateStreams ? streamsName : containerName
  const query = { container, follow: true, timestamps: true, sinceTime }
  const target = { collection: pods, namespace: log.namespace, name: log.pod, subresource: 'log' }
  const stream = await api.stream({ verb: 'get', ...target, query, signal, tries: 1 })
  const reader = createLogReader()
  progress.waitsSince = clock.now()
  for await (const chunk of stream) {
    await takeChunk(reading, reader, chunk)
    if (progress.isOver) return
    progress.waitsSince = clock.now()
  }
}

function isGone(error: unknown): boolean {
  return isSvcError(error, 'NotFound') || isSvcError(error, 'NotConfigured')
}

type Round = 'end' | 'again' | { error: unknown }

/** One reading; `end` when that was the end of the log, or there is none. */
async function readRound(reading: Reading): Promise<Round> {
  const wasOver = reading.log.isOver()
  try {
    await readOnce(reading)
    if (reading.progress.isOver) return 'end'
    const isShort = reading.progress.received < rotatedBytes
    return wasOver || (isShort && reading.log.isOver()) ? 'end' : 'again'
  } catch (error) {
    return reading.signal.aborted || isGone(error) ? 'end' : { error }
  } finally {
    reading.progress.waitsSince = undefined
  }
}

async function readToEnd(reading: Reading): Promise<void> {
  const { log, clock, ids, signal } = reading
  let failures = 0
  let failuresAfterEnd = 0
  for (let round = await readRound(reading); round !== 'end'; round = await readRound(reading)) {
    failures = round === 'again' ? 0 : failures + 1
    failuresAfterEnd = round !== 'again' && log.isOver() ? failuresAfterEnd + 1 : 0
    if (round !== 'again' && failuresAfterEnd >= triesAfterEnd) return noteLoss(reading, messageOf(round.error))
    await clock.sleep(delayMs(backoff, failures + 1, ids.random()), signal)
  }
}

async function noteLoss({ logs, log }: Reading, message: string): Promise<void> {
  const note = noteForLog(`[the end of the log could not be read: ${message}]`, 'error')
  await logs.append(log.key, [note]).catch(() => undefined)
}

/** Waits for a store that is unavailable when the container starts: nothing is lost meanwhile. */
async function findStored({ logs, clock }: FollowerOptions, log: FollowedLog, signal: AbortSignal): Promise<Stored> {
  for (;;) {
    try {
      return await countStored(logs, log.key, log.position)
    } catch (error) {
      if (!isSvcError(error, 'Unavailable')) throw error
      await clock.sleep(storePauseMs, signal)
    }
  }
}

async function follow(
  options: FollowerOptions,
  log: FollowedLog,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const stored = await findStored(options, log, signal)
  const intake = createIntake({
    tail: log.tail,
    stored,
    store: (lines) => store(options, log, lines, signal),
    noteStored: createPositionKeeper(options, log),
  })
  progress.intake = intake
  const records = log.hasSeparateStreams ? createRecordReader() : createPlainReader()
  await readToEnd({ ...options, log, signal, sieve: createLogSieve(), records, progress })
  await intake.end()
}

export function followPodLog(options: FollowerOptions, log: FollowedLog): LogFollower {
  const stopping = new AbortController()
  const progress: Progress = { intake: undefined, received: 0, waitsSince: undefined, isOver: false }
  const done = follow(options, log, progress, stopping.signal).catch(() => undefined)
  return {
    done,
    errorTail: () => (log.hasSeparateStreams ? progress.intake?.errorTail() : undefined),
    waitsSince: () => progress.waitsSince,
    stop: async () => {
      stopping.abort()
      await done
    },
  }
}
