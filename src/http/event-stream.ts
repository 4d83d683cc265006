// Server-sent events from an async iterable: heartbeats, a retry hint when the service drains, clean-up when the client
// leaves.
import { Readable } from 'node:stream'

/** One frame. The client sends `id` back as Last-Event-ID. */
export type Frame = { id?: string | number; event?: string; data: string }

export type EventStreamOptions = {
  heartbeatMs: number
  /** Aborted when the service drains: the stream ends with a hint to reconnect. */
  drain: AbortSignal
}

const retryMs = 1000
// A shared reason: creating the default one costs a stack trace per stream.
const ended = new Error('the stream has ended')

/** The text of one frame; each line of multi-line data gets its own `data:` (WHATWG HTML section 9.2.5). */
export function encodeFrame(frame: Frame): string {
  const id = frame.id === undefined ? '' : `id: ${frame.id}\n`
  const event = frame.event === undefined ? '' : `event: ${frame.event}\n`
  const data = frame.data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')
  return `${id}${event}${data}\n`
}

type Step = IteratorResult<Frame> | 'heartbeat' | 'drain'

function waitFor(ms: number, signal: AbortSignal): { step: Promise<Step>; cancel(): void } {
  let cancel = () => {}
  const step = new Promise<Step>((resolve) => {
    const timer = setTimeout(() => resolve('heartbeat'), ms)
    const onAbort = () => resolve('drain')
    signal.addEventListener('abort', onAbort, { once: true })
    cancel = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    if (signal.aborted) onAbort()
  })
  return { step, cancel }
}

async function* encodeFrames(frames: AsyncIterator<Frame>, options: EventStreamOptions): AsyncGenerator<string> {
  yield ': open\n\n'
  let next = frames.next()
  for (;;) {
    const pause = waitFor(options.heartbeatMs, options.drain)
    const step = await Promise.race([next, pause.step]).finally(pause.cancel)
    if (step === 'heartbeat') yield ': heartbeat\n\n'
    else if (step === 'drain') return yield `retry: ${retryMs}\n: the service restarts; come back\n\n`
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
export function streamEvents(
  source: (signal: AbortSignal) => AsyncIterable<Frame>,
  options: EventStreamOptions,
): Readable {
  const over = new AbortController()
  const texts = encodeFrames(source(over.signal)[Symbol.asyncIterator](), options)
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
      void texts.return(undefined)
      callback(error)
    },
  })
}
