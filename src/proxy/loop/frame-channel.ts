// Passes frames from the loop to the writer; the loop waits when the writer is slow.
import type { WriteFrames } from '../types.ts'

export type FrameChannel = {
  /** Undefined: there is room for more. Otherwise resolves when there is, or when nobody writes any more. */
  push(text: string): Promise<void> | undefined
  /** Nothing more comes. Pending frames are still written; a sender waiting for room is released. */
  end(error?: unknown): void
  /** Resolves with the first frame or the end; rejects with the error when it ends without a frame. */
  opened(): Promise<void>
  /** Writes everything until the end. Rejects with the error of `write`, and then writes nothing more. */
  pipe(write: WriteFrames): Promise<void>
}

export function createFrameChannel(): FrameChannel {
  const opening = Promise.withResolvers<void>()
  opening.promise.catch(() => {})
  const closing = Promise.withResolvers<void>()
  closing.promise.catch(() => {})
  /** Collected while there was no room; sent as one piece when there is. */
  let waiting = ''
  let writer: WriteFrames | undefined
  /** There is no room until somebody writes. */
  let room: PromiseWithResolvers<void> | undefined = Promise.withResolvers<void>()
  let isOver = false

  function finish(): void {
    isOver = true
    room?.resolve()
    closing.resolve()
  }

  function breakOff(error: unknown): void {
    waiting = ''
    closing.reject(error)
    finish()
  }

  function waitUntil(free: Promise<void>): void {
    const writable = Promise.withResolvers<void>()
    room = writable
    free.then(() => {
      makeRoom()
      writable.resolve()
    }, breakOff)
  }

  function makeRoom(): void {
    room = undefined
    send()
  }

  function send(): void {
    const text = waiting
    waiting = ''
    if (text === '' || writer === undefined) return
    try {
      const full = writer(text)
      if (full !== undefined) waitUntil(full)
    } catch (error) {
      breakOff(error)
    }
  }

  return {
    push(text) {
      if (isOver || text === '') return undefined
      opening.resolve()
      waiting += text
      if (room === undefined) send()
      return room?.promise
    },
    end(error) {
      if (isOver) return
      if (error === undefined) opening.resolve()
      else opening.reject(error)
      if (writer !== undefined) send()
      finish()
    },
    opened: () => opening.promise,
    pipe(write) {
      writer = write
      const reading = room
      makeRoom()
      reading?.resolve()
      return closing.promise
    },
  }
}
