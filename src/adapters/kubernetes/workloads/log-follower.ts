// Follows the log of one container into the Logs port while it runs, and gathers its output. Starts again where it was
// after a cut connection; a service that starts anew reads the log again and leaves out what is stored.
import { isSvcError, messageOf } from '../../../errors.ts'
import type { Redactor } from '../../../observability/redaction.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Logs } from '../../../ports/logs.ts'
import type { AttemptKey } from '../../../ports/workloads.ts'
import { createLineFeed, type LineFeed } from '../../attempts/output/line-reader.ts'
import type { OutputTail } from '../../attempts/output/output-tail.ts'
import type { KubernetesApi } from '../api.ts'
import { createLogSieve, type LogSieve } from './log-place.ts'
import { countStored, type LogPosition, readLastSeq, type Stored } from './log-position.ts'
import { createLogReader, type LogPart, writeSecond } from './log-stream.ts'
import { containerName } from './names.ts'
import { pods } from './objects.ts'

export type FollowedLog = {
  key: AttemptKey
  namespace: string
  pod: string
  redact: Redactor
  tail: OutputTail
  /** How far an earlier life of the service had come, when it said so. */
  position: LogPosition | undefined
  /** Whether the container runs no more: then the end of the stream is the end of the log. */
  isOver(): boolean
  /** Keeps how far the log is stored, now and then. */
  savePosition(position: LogPosition): Promise<void>
}

export type FollowerOptions = { api: KubernetesApi; logs: Logs; clock: Clock }

export type LogFollower = {
  /** Resolves when everything is stored, or cannot be had; never rejects. */
  done: Promise<void>
  stop(): Promise<void>
}

/** After the end of the container its log is asked for so often. */
const triesAfterEnd = 6
const firstPauseMs = 250
const longestPauseMs = 5000
/** Lines lost to a store that is away are the one thing that is waited for, as long as it takes. */
const storePauseMs = 1000
/** A log that may have been rotated meanwhile can end early for whoever follows it: it is read once more after its end. */
const rotatedBytes = 1024 * 1024
const savedEachBytes = 1024 * 1024

type Reading = FollowerOptions & {
  log: FollowedLog
  signal: AbortSignal
  sieve: LogSieve
  intake: Intake
  received: number
}

type Intake = { write(part: LogPart, fresh: Buffer): void; flush(): Promise<void>; end(): Promise<void> }

async function store({ logs, clock }: FollowerOptions, log: FollowedLog, lines: string[], signal: AbortSignal) {
  for (;;) {
    try {
      return await logs.append(log.key, lines.map(log.redact))
    } catch (error) {
      // Any other complaint of the store stays: the attempt goes on without these lines.
      if (!isSvcError(error, 'Unavailable')) return
      await clock.sleep(storePauseMs, signal)
    }
  }
}

/** Where new bytes go: all to the output, and what is not stored yet to the logs. */
function createIntake(options: FollowerOptions, log: FollowedLog, stored: Stored, signal: AbortSignal): Intake {
  const feed: LineFeed = createLineFeed((lines) => store(options, log, lines, signal))
  let output: Buffer[] = []
  let fresh: Buffer[] = []
  let sinceSaved = 0
  let last = 0n

  async function savePosition(): Promise<void> {
    if (sinceSaved < savedEachBytes) return
    sinceSaved = 0
    const seq = await readLastSeq(options.logs, log.key.taskUid)
    await log.savePosition({ stamp: last, seq })
  }

  async function flush(): Promise<void> {
    const [all, unstored] = [Buffer.concat(output), Buffer.concat(fresh)]
    output = []
    fresh = []
    if (all.length > 0) await log.tail.write(all)
    if (unstored.length === 0) return
    await feed.write(unstored)
    sinceSaved += unstored.length
    await savePosition().catch(() => undefined)
  }

  return {
    write(part, bytes) {
      output.push(bytes)
      if (!stored.covers(part)) fresh.push(bytes)
      if (part.isEnd) last = part.stamp
    },
    flush,
    end: async () => {
      await flush()
      await feed.end()
    },
  }
}

/** Reads once, to the end of the stream. */
async function readOnce(reading: Reading): Promise<void> {
  const { api, log, signal, sieve, intake } = reading
  const from = sieve.rewind()
  const sinceTime = from === undefined ? undefined : writeSecond(from)
  const query = { container: containerName, follow: true, timestamps: true, sinceTime }
  const target = { collection: pods, namespace: log.namespace, name: log.pod, subresource: 'log' }
  const stream = await api.stream({ verb: 'get', ...target, query, signal, tries: 1 })
  const reader = createLogReader()
  for await (const chunk of stream) {
    reading.received += chunk.length
    for (const part of reader.push(chunk)) {
      const bytes = sieve.take(part)
      if (bytes.length > 0) intake.write(part, bytes)
    }
    await intake.flush()
  }
}

function isGone(error: unknown): boolean {
  return isSvcError(error, 'NotFound') || isSvcError(error, 'NotConfigured')
}

type Round = 'end' | 'again' | { error: unknown }

/** One reading; `end` when that was the end of the log, or when there is none. */
async function readRound(reading: Reading): Promise<Round> {
  const wasOver = reading.log.isOver()
  try {
    await readOnce(reading)
    const isShort = reading.received < rotatedBytes
    return wasOver || (isShort && reading.log.isOver()) ? 'end' : 'again'
  } catch (error) {
    return reading.signal.aborted || isGone(error) ? 'end' : { error }
  }
}

async function readToEnd(reading: Reading): Promise<void> {
  const { log, clock, signal } = reading
  let failures = 0
  let failuresAfterEnd = 0
  for (let round = await readRound(reading); round !== 'end'; round = await readRound(reading)) {
    failures = round === 'again' ? 0 : failures + 1
    failuresAfterEnd = round !== 'again' && log.isOver() ? failuresAfterEnd + 1 : 0
    if (round !== 'again' && failuresAfterEnd >= triesAfterEnd) return noteLoss(reading, messageOf(round.error))
    await clock.sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** failures), signal)
  }
}

async function noteLoss({ logs, log }: Reading, message: string): Promise<void> {
  await logs.append(log.key, [`[the end of the log could not be read: ${message}]`]).catch(() => undefined)
}

/** A store that is away when the container starts is waited for: nothing is lost meanwhile. */
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

async function follow(options: FollowerOptions, log: FollowedLog, signal: AbortSignal): Promise<void> {
  const stored = await findStored(options, log, signal)
  const intake = createIntake(options, log, stored, signal)
  await readToEnd({ ...options, log, signal, sieve: createLogSieve(), intake, received: 0 })
  await intake.end()
}

export function followLog(options: FollowerOptions, log: FollowedLog): LogFollower {
  const stopping = new AbortController()
  const done = follow(options, log, stopping.signal).catch(() => undefined)
  return {
    done,
    stop: async () => {
      stopping.abort()
      await done
    },
  }
}
