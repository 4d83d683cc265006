// Merges several endless streams into one, in the order of their items; the first failure ends them all.

type Offer<T> = { item: T; take(): void }

/** `open` receives a signal that aborts with the outer one, when the stream is left, or when one of them failed. */
export async function* mergeStreams<T>(
  outer: AbortSignal,
  open: (signal: AbortSignal) => AsyncIterable<T>[],
): AsyncGenerator<T> {
  const left = new AbortController()
  const offers: Offer<T>[] = []
  let wake = () => {}
  let running = 0
  let failure: { error: unknown } | undefined

  /** One item at a time: items must not pile up here for a slow reader. */
  async function pass(stream: AsyncIterable<T>): Promise<void> {
    for await (const item of stream) {
      if (left.signal.aborted) return
      await new Promise<void>((take) => {
        offers.push({ item, take })
        wake()
      })
    }
  }

  function end(): void {
    running -= 1
    wake()
  }

  function start(stream: AsyncIterable<T>): Promise<void> {
    running += 1
    const note = (error: unknown) => {
      failure ??= { error }
    }
    return pass(stream).catch(note).finally(end)
  }

  const passing = open(AbortSignal.any([outer, left.signal])).map(start)
  try {
    while (running > 0 || offers.length > 0) {
      const offer = offers.shift()
      if (offer !== undefined) {
        offer.take()
        yield offer.item
      } else if (failure !== undefined) throw failure.error
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
    if (failure !== undefined) throw failure.error
  } finally {
    left.abort()
    for (const { take } of offers) take()
    await Promise.all(passing)
  }
}
