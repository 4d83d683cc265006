// Server-sent events that a source pushes: all events of one turn of the event loop become one write to the socket.
import { Readable } from 'node:stream'
import { type EventFrame, encodeFrame, heartbeat } from './event-stream.ts'

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

  const pulse = setInterval(() => {
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
      clearInterval(pulse)
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
      pulse.refresh()
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
