// One stream of two sources: changes that are pulled, and hints that are drained whenever something wakes the reader.

type Arrived<T> = { result: IteratorResult<T> } | { error: unknown }

export type Waker = { wake(): void }

/** The changes, between them what `drain` gives; `waker.wake` makes it look. Ends with the changes. */
export async function* mergeDrained<T, H>(
  changes: AsyncIterable<T>,
  drain: () => H[],
  waker: Waker,
): AsyncGenerator<T | H> {
  const source = changes[Symbol.asyncIterator]()
  let arrived: Arrived<T> | undefined
  const pull = () => {
    arrived = undefined
    source.next().then(
      (result) => {
        arrived = { result }
        waker.wake()
      },
      (error: unknown) => {
        arrived = { error }
        waker.wake()
      },
    )
  }
  pull()
  for (;;) {
    const { promise: awake, resolve } = Promise.withResolvers<void>()
    waker.wake = resolve
    yield* drain()
    const next = arrived as Arrived<T> | undefined
    if (next === undefined) {
      await awake
      continue
    }
    if ('error' in next) throw next.error
    if (next.result.done) return
    yield next.result.value
    pull()
  }
}
