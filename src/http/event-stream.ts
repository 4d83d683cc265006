// Server-sent events from an async iterable: heartbeats, a retry hint when the service drains, clean-up when the client
// leaves. The credential is checked again while a stream lasts.
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { onAbort } from '../lib/abort.ts'

/** One frame. The client sends `id` back as Last-Event-ID. */
export type EventFrame = { id?: string | number; event?: string; data: string }

export type EventStreamOptions = {
  heartbeatMs: number
  /** Aborted when the service drains: the stream ends with a hint to reconnect. */
  drain: AbortSignal
  /** Rejects when the stream's reader may no longer have it; absent: nobody is asked. */
  recheck?: () => Promise<unknown>
  /** How often it is asked at most; default 5 seconds, as long as another replica's word about a token is believed. */
  recheckMs?: number
}

/** `idle` is sent instead of a heartbeat, where there is one. */
export type EventSource =
  | AsyncIterable<EventFrame>
  | { frames: AsyncIterable<EventFrame>; idle: () => EventFrame | undefined }

const defaultRecheckMs = 5000

/** The time without events after which a comment shows that the connection is alive. */
export const defaultHeartbeatMs = 15_000
/** The comment; proxies on the way close connections on which nothing is sent. */
export const heartbeat = ': heartbeat\n\n'

const retryMs = 1000
// A shared reason: creating the default one costs a stack trace per stream.
const ended = new Error('the stream has ended')

/** The text of one frame; each line of multi-line data gets its own `data:` (WHATWG HTML section 9.2.5). */
export function encodeFrame(frame: EventFrame): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`
  const event = frame.event === undefined ? '' : `event: ${frame.event}\n`
  const data = frame.data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')
  return `${id}${event}${data}\n`
}

type Step = IteratorResult<EventFrame> | 'heartbeat' | 'drain'

type Pause = { begin(): Promise<Step>; close(): void }

/**
 * Wakes after a time of silence, or when the service drains. One listener for the whole stream: to add one to a signal takes
 * as long as the signal has listeners, and all streams share this one.
 */
function createPause(ms: number, drain: AbortSignal): Pause {
  let wake = (_step: Step) => {}
  const timer = setTimeout(() => wake('heartbeat'), ms)
  const end = () => wake('drain')
  const removeListener = onAbort(drain, end)
  return {
    begin() {
      if (drain.aborted) return Promise.resolve('drain')
      timer.refresh()
      return new Promise((resolve) => {
        wake = resolve
      })
    },
    close() {
      clearTimeout(timer)
      removeListener()
      end()
    },
  }
}

function encodeSilence(idle: () => EventFrame | undefined): string {
  const frame = idle()
  return frame === undefined ? heartbeat : encodeFrame(frame)
}

/** Whether the reader may go on reading; asked of whoever knows at most every few seconds. */
function createCheck({ recheck, recheckMs = defaultRecheckMs }: EventStreamOptions): () => Promise<boolean> {
  let checkedAt = performance.now()
  return async () => {
    if (recheck === undefined || performance.now() - checkedAt < recheckMs) return true
    checkedAt = performance.now()
    return recheck().then(
      () => true,
      () => false,
    )
  }
}

const comeBack = `retry: ${retryMs}\n`

function partsOf(source: EventSource): { frames: AsyncIterable<EventFrame>; idle: () => EventFrame | undefined } {
  return 'frames' in source ? source : { frames: source, idle: () => undefined }
}

async function* encodeFrames(source: EventSource, options: EventStreamOptions, pause: Pause): AsyncGenerator<string> {
  const { frames: all, idle } = partsOf(source)
  const frames = all[Symbol.asyncIterator]()
  const mayGoOn = createCheck(options)
  yield ': open\n\n'
  let next = frames.next()
  for (;;) {
    const step = await Promise.race([next, pause.begin()])
    if (step === 'drain') return yield `${comeBack}: the service restarts; come back\n\n`
    if (!(await mayGoOn())) return yield `${comeBack}: the credential is no longer good\n\n`
    if (step === 'heartbeat') yield encodeSilence(idle)
    else if (step.done) return
    else {
      yield encodeFrame(step.value)
      next = frames.next()
    }
  }
}

/**
 * The stream to answer with. It is pulled, so a slow client slows the source down; `source` receives a signal that
 * aborts when the stream has ended for any reason.
 */
export function streamEvents(source: (signal: AbortSignal) => EventSource, options: EventStreamOptions): Readable {
  const over = new AbortController()
  const pause = createPause(options.heartbeatMs, options.drain)
  const texts = encodeFrames(source(over.signal), options, pause)
  return new Readable({
    highWaterMark: 64 * 1024,
    read() {
      texts.next().then(
        ({ done, value }) => this.push(done ? null : value),
        (error) => this.destroy(error),
      )
    },
    // Readable.from would wait for the source's pending step, which can take hours.
    destroy(error, callback) {
      over.abort(ended)
      pause.close()
      void texts.return(undefined)
      callback(error)
    },
  })
}

export type PushedEvents<F> = {
  /** The stream to answer with. */
  stream: Readable
  push(item: F): void
  end(): void
}

export type PushedEventsOptions<F> = {
  encode(item: F): EventFrame
  /** Merges two events when one says the same as both, for a reader that is behind. */
  merge(last: F, next: F): F | undefined
  /** Time without events after which a comment line is sent. */
  heartbeatMs: number
  /** Called when the stream has ended for any reason. */
  onClose(): void
}

const highWaterMark = 64 * 1024

export function createPushedEvents<F>({
  encode,
  merge,
  heartbeatMs,
  onClose,
}: PushedEventsOptions<F>): PushedEvents<F> {
  let waiting: F[] = []
  let isOver = false
  let isScheduled = false
  let isHeldBack = false

  const keepAlive = setInterval(() => {
    if (!isHeldBack) isHeldBack = !stream.push(heartbeat)
  }, heartbeatMs).unref()

  const stream = new Readable({
    highWaterMark,
    read() {
      if (!isHeldBack) return
      isHeldBack = false
      schedule()
    },
    destroy(error, callback) {
      clearInterval(keepAlive)
      isOver = true
      waiting = []
      onClose()
      callback(error)
    },
  })

  function schedule(): void {
    if (isScheduled || isHeldBack) return
    isScheduled = true
    setImmediate(flush)
  }

  function flush(): void {
    isScheduled = false
    if (stream.destroyed) return
    if (waiting.length > 0) {
      const text = waiting.map((item) => encodeFrame(encode(item))).join('')
      waiting = []
      keepAlive.refresh()
      isHeldBack = !stream.push(text)
    }
    if (isOver) stream.push(null)
  }

  function add(item: F): void {
    const last = isHeldBack ? waiting.at(-1) : undefined
    const merged = last === undefined ? undefined : merge(last, item)
    if (merged === undefined) waiting.push(item)
    else waiting[waiting.length - 1] = merged
  }

  return {
    stream,
    push(item) {
      if (isOver) return
      add(item)
      schedule()
    },
    end() {
      if (isOver) return
      isOver = true
      schedule()
    },
  }
}

// A shared reason: creating the default one costs a stack trace per request.
export const gone = new Error('the stream has ended')

/** A signal that aborts when the client of a blocking request disconnects. */
export function watchClient({ raw }: FastifyRequest): { signal: AbortSignal; release(): void } {
  const left = new AbortController()
  const abort = () => left.abort(gone)
  raw.socket.once('close', abort)
  if (raw.socket.destroyed) abort()
  return { signal: left.signal, release: () => raw.socket.off('close', abort) }
}
