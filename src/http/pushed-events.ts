// Server-sent events that a source pushes: what comes in one turn of the event loop is one write to the socket.
import { Readable } from 'node:stream'
import { encodeFrame, type Frame } from './event-stream.ts'

export type PushedEvents<F> = {
  /** The stream to answer with. */
  stream: Readable
  push(item: F): void
  end(): void
}

export type PushedEventsOptions<F> = {
  encode(item: F): Frame
  /** Both as one, where that says the same: for what a slow reader has not taken yet. */
  merge(last: F, next: F): F | undefined
  /** Silence after which a comment line is sent. */
  heartbeatMs: number
  /** The stream has ended for whatever reason. */
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

  const heartbeat = setInterval(() => {
    if (!isHeldBack) isHeldBack = !stream.push(': heartbeat\n\n')
  }, heartbeatMs).unref()

  const stream = new Readable({
    highWaterMark,
    read() {
      if (!isHeldBack) return
      isHeldBack = false
      schedule()
    },
    destroy(error, callback) {
      clearInterval(heartbeat)
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
      heartbeat.refresh()
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
