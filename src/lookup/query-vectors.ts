// Queries as vectors of the provider's model that makes those of the memories.
import { messageOf } from '../errors.ts'
import { type Clock, monotonicMs } from '../lib/clock.ts'
import type { Embedder, MemoryVectors, QueryVectors } from '../ports/memory/vectors.ts'
import { nameModel } from '../rules/memory/vectors.ts'

/** A search does not wait longer for a provider; after a failure none asks it for a while. */
export const queryVectorTimes = { waitMs: 1000, pauseMs: 30_000 } as const
type Deps = {
  memoryVectors: Pick<MemoryVectors, 'modelOf'>
  clock: Pick<Clock, 'now' | 'sleep'>
  embedder: Embedder
  /** Told of each failure of the provider. */
  report(message: string): void
}

/** Rejects when the provider fails or takes longer than a search waits. */
async function askSoon({ clock, embedder }: Deps, namespace: string, query: string): Promise<Float32Array | undefined> {
  const controller = new AbortController()
  const late = clock.sleep(queryVectorTimes.waitMs, controller.signal).then(() => {
    throw new Error(`it took longer than ${queryVectorTimes.waitMs} ms`)
  })
  try {
    const [vector] = await Promise.race([embedder.embed([query], controller.signal, namespace), late])
    return vector
  } finally {
    late.catch(() => undefined)
    controller.abort()
  }
}

export function createQueryVectors(deps: Deps): QueryVectors {
  const { memoryVectors, clock, embedder, report } = deps
  let failure = { message: '', until: 0 }

  async function ask(namespace: string, query: string) {
    const vector = await askSoon(deps, namespace, query)
    if (vector === undefined) return {}
    const model = nameModel(embedder.model, vector.length)
    const isCurrent = (await memoryVectors.modelOf(namespace)) === model
    const notice = 'vectors of the memories are being made anew: those that have none yet are found by words alone'
    return { vector: { model, vector }, ...(!isCurrent && { notice }) }
  }

  return {
    async of(namespace, query) {
      const now = monotonicMs(clock)
      const byWords = () => ({
        notice: `searched by words alone: ${embedder.model} made no vector: ${failure.message}`,
      })
      if (now < failure.until) return byWords()
      try {
        return await ask(namespace, query)
      } catch (error) {
        failure = { message: messageOf(error), until: now + queryVectorTimes.pauseMs }
        report(failure.message)
        return byWords()
      }
    },
  }
}
