// Hands frames from the loop to whoever writes them; the loop waits when the writer is slow.

export type FrameChannel = {
  /** Undefined: there is room for more; else resolves when there is, or when nobody reads any more. */
  push(text: string): Promise<void> | undefined
  /** What is waiting may still be read; writers that wait for room are let go. */
  end(error?: unknown): void
  /** Resolves with the first frame or the end; rejects with the error of an end without any frame. */
  opened(): Promise<void>
  frames(): AsyncIterable<string>
}

/** Frames that wait at most before the loop is held back. */
const capacity = 64

/** Everybody who waits for the same thing: tools of one turn end side by side, and each of them writes. */
function createWaiters() {
  let waiting: (() => void)[] = []
  return {
    wait: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    wake() {
      const woken = waiting
      waiting = []
      for (const resolve of woken) resolve()
    },
  }
}

export function createFrameChannel(onBreak: () => void): FrameChannel {
  const waiting: string[] = []
  let ended: { error?: unknown } | undefined
  const readers = createWaiters()
  const writers = createWaiters()
  let begun = false
  const opening = Promise.withResolvers<void>()
  opening.promise.catch(() => {})

  async function waitForRoom(): Promise<void> {
    while (waiting.length >= capacity && ended === undefined) await writers.wait()
  }

  /** All that waits, in one piece; undefined at the end. */
  async function take(): Promise<string | undefined> {
    while (waiting.length === 0) {
      if (ended !== undefined) return undefined
      await readers.wait()
    }
    const text = waiting.join('')
    waiting.length = 0
    writers.wake()
    return text
  }

  async function* read(): AsyncGenerator<string> {
    try {
      for (let text = await take(); text !== undefined; text = await take()) yield text
    } finally {
      ended ??= {}
      writers.wake()
      onBreak()
    }
  }

  return {
    push(text) {
      if (ended !== undefined || text === '') return undefined
      waiting.push(text)
      if (!begun) opening.resolve()
      begun = true
      readers.wake()
      return waiting.length < capacity ? undefined : waitForRoom()
    },
    end(error) {
      ended ??= { error }
      if (!begun && error !== undefined) opening.reject(error)
      else opening.resolve()
      readers.wake()
      writers.wake()
    },
    opened: () => opening.promise,
    frames: read,
  }
}
