// Hands frames from the loop to whoever writes them; the loop waits when the writer is slow.

export type FrameChannel = {
  /** Resolves when there is room for more. */
  push(text: string): Promise<void>
  end(error?: unknown): void
  /** Resolves with the first frame or the end; rejects with the error of an end without any frame. */
  opened(): Promise<void>
  frames(): AsyncIterable<string>
}

/** Frames that wait at most before the loop is held back. */
const capacity = 64

export function createFrameChannel(onBreak: () => void): FrameChannel {
  const waiting: string[] = []
  let ended: { error?: unknown } | undefined
  let wakeReader = () => {}
  let wakeWriter = () => {}
  let begun = false
  const opening = Promise.withResolvers<void>()
  opening.promise.catch(() => {})

  async function waitForRoom(): Promise<void> {
    while (waiting.length >= capacity && ended === undefined) {
      await new Promise<void>((resolve) => {
        wakeWriter = resolve
      })
    }
  }

  /** All that waits, in one piece; undefined at the end. */
  async function take(): Promise<string | undefined> {
    while (waiting.length === 0) {
      if (ended !== undefined) return undefined
      await new Promise<void>((resolve) => {
        wakeReader = resolve
      })
    }
    const text = waiting.join('')
    waiting.length = 0
    wakeWriter()
    return text
  }

  async function* read(): AsyncGenerator<string> {
    try {
      for (let text = await take(); text !== undefined; text = await take()) yield text
    } finally {
      ended ??= {}
      wakeWriter()
      onBreak()
    }
  }

  return {
    async push(text) {
      if (ended !== undefined || text === '') return
      waiting.push(text)
      if (!begun) opening.resolve()
      begun = true
      wakeReader()
      if (waiting.length >= capacity) await waitForRoom()
    },
    end(error) {
      ended ??= { error }
      if (!begun && error !== undefined) opening.reject(error)
      else opening.resolve()
      wakeReader()
    },
    opened: () => opening.promise,
    frames: read,
  }
}
