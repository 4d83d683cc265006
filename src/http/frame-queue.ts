// Frames that are pushed by a source and pulled by a stream. Text that a slow reader has not taken yet grows into one frame.
import type { Frame } from './event-stream.ts'

export type FrameQueue<F> = AsyncIterable<Frame> & { push(item: F): void; end(): void }

export type FrameQueueOptions<F> = {
  encode(item: F): Frame
  /** Both as one, where that says the same. */
  merge(last: F, next: F): F | undefined
}

export function createFrameQueue<F>({ encode, merge }: FrameQueueOptions<F>): FrameQueue<F> {
  let waiting: F[] = []
  let isOver = false
  let wake = () => {}

  function push(item: F): void {
    const last = waiting.at(-1)
    const merged = last === undefined ? undefined : merge(last, item)
    if (merged === undefined) waiting.push(item)
    else waiting[waiting.length - 1] = merged
    wake()
  }

  function waitForMore(): Promise<void> | undefined {
    if (waiting.length > 0 || isOver) return undefined
    return new Promise((resolve) => {
      wake = resolve
    })
  }

  async function* drain(): AsyncGenerator<Frame> {
    while (waiting.length > 0 || !isOver) {
      const items = waiting
      waiting = []
      for (const item of items) yield encode(item)
      await waitForMore()
    }
  }

  return {
    push,
    end() {
      isOver = true
      wake()
    },
    [Symbol.asyncIterator]: drain,
  }
}
