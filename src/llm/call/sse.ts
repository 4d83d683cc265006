// Reads server-sent events from a body that may arrive in pieces of any size, stop, or stall.
import { createParser } from 'eventsource-parser'
import { followSignals } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from './deadlines.ts'

export type SseFrame = { event?: string | undefined; data: string }

/** A longer frame means a broken vendor, not an answer. */
const maxFrameLength = 32 * 1024 * 1024

/** No data arrived for too long. */
export class IdleError extends Error {
  readonly idleMs: number

  constructor(idleMs: number) {
    super(`nothing was received for ${idleMs / 1000} s`)
    this.idleMs = idleMs
  }
}

/** Ends within the name of the field. */
const openField = /[\r\n]((?:e(?:r(?:r(?:or?)?)?)?)?)$/

/**
 * Until autumn 2025 llama.cpp wrote failures as a field of its own (ggml-org/llama.cpp#16109), which parsers drop. Returns the text
 * with the event that was meant; the beginning of a line may wait for the next piece.
 */
function createErrorFields(): (piece: string) => string {
  let isLineStart = true
  let buffer = ''
  return (piece) => {
    const text = `${isLineStart ? '\n' : ''}${buffer}${piece}`.replace(/([\r\n])error:/g, '$1event: error\ndata:')
    const from = isLineStart ? 1 : 0
    const open = openField.exec(text)
    isLineStart = open !== null
    buffer = open?.[1] ?? ''
    return text.slice(from, text.length - buffer.length)
  }
}

/**
 * Returns each frame as soon as it is complete; drops an incomplete one at the end. `feed` throws for a frame without
 * end.
 */
export function createSseReader(take: (frame: SseFrame) => void): { feed(bytes: Uint8Array): void } {
  let broken: Error | undefined
  const parser = createParser({
    onEvent: take,
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') broken = error
    },
    maxBufferSize: maxFrameLength,
  })
  const decoder = new TextDecoder()
  const mendFields = createErrorFields()
  return {
    feed(bytes) {
      parser.feed(mendFields(decoder.decode(bytes, { stream: true })))
      if (broken !== undefined) throw broken
    },
  }
}

export type IdleWatch = {
  signal: AbortSignal
  /** Data arrived: the time restarts. Throws the reason of an abort. */
  touch(): void
  stop(): void
}

/** Aborts when `touch` was not called for `idleMs`, or when `parent` aborts. */
export function watchIdle(clock: Clock, idleMs: number, parent: AbortSignal): IdleWatch {
  const idle = followSignals(parent)
  const deadline = startDeadline(clock, idleMs, () => idle.abort(new IdleError(idleMs)))
  return {
    signal: idle.signal,
    touch() {
      idle.signal.throwIfAborted()
      deadline.renew()
    },
    stop: () => {
      idle.release()
      deadline.cancel()
    },
  }
}
