// Reads server-sent events from a body that may arrive in any pieces, stop, or never go on.
import { createParser } from 'eventsource-parser'
import type { Clock } from '../ports/clock.ts'
import { startDeadline } from './deadlines.ts'
import { followSignals } from './linked-signal.ts'

export type Frame = { event?: string | undefined; data: string }

/** A longer frame is a broken vendor, not an answer. */
const maxFrameLength = 32 * 1024 * 1024

/** The body was silent for too long. */
export class IdleError extends Error {
  readonly idleMs: number

  constructor(idleMs: number) {
    super(`nothing was received for ${idleMs / 1000} s`)
    this.idleMs = idleMs
  }
}

export type ByteReader = { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> }

/** Gives each whole frame. A half frame at the end is dropped. Throws what reading throws. */
export async function* readFrames(reader: ByteReader): AsyncGenerator<Frame> {
  const frames: Frame[] = []
  let broken: Error | undefined
  const parser = createParser({
    onEvent: (frame) => frames.push(frame),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') broken = error
    },
    maxBufferSize: maxFrameLength,
  })
  const decoder = new TextDecoder()
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    parser.feed(decoder.decode(value, { stream: true }))
    yield* frames.splice(0)
    if (broken !== undefined) throw broken
  }
}

export type IdleWatch = { signal: AbortSignal; touch(): void; stop(): void }

/** Aborts when `touch` was not called for `idleMs`, and with `parent`. */
export function watchIdle(clock: Clock, idleMs: number, parent: AbortSignal): IdleWatch {
  const idle = followSignals(parent)
  const deadline = startDeadline(clock, idleMs, () => idle.abort(new IdleError(idleMs)))
  return {
    signal: idle.signal,
    touch: () => deadline.renew(),
    stop: () => {
      idle.release()
      deadline.cancel()
    },
  }
}
