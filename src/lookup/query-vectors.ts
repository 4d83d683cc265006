// Queries as vectors of whatever makes those of the memories: a provider's model, or the space that was learnt from the memories.
import { messageOf } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import type { Embedder, MemoryVectors, QueryVectors } from '../ports/memory/vectors.ts'
import { queryTerms } from '../rules/memory/search-terms.ts'
import { embedText } from '../rules/memory/text-space.ts'
import { nameModel } from '../rules/memory/vectors.ts'

/** A search does not wait longer for a provider; after a failure none asks it for a while. */
export const queryVectorTimes = { waitMs: 1000, pauseMs: 30_000 } as const
/**
 * Below that a text of the space has nothing to do with a query: on the Cranfield collection nothing is lost by it, and the
 * tenth text of a typical question has 0.51.
 */
const minSpaceSimilarity = 0.4

type Deps = {
  memoryVectors: Pick<MemoryVectors, 'spaceOf' | 'modelOf'>
  clock: Pick<Clock, 'now' | 'sleep'>
  /** Absent: vectors are those of the learnt spaces. */
  embedder?: Embedder | undefined
  /** Told of each failure of the provider. */
  report(message: string): void
}

/** Queries in the spaces that were learnt from the memories of their namespaces. */
function createSpaceVectors({ memoryVectors, report }: Deps): QueryVectors {
  return {
    async of(namespace, query) {
      try {
        const found = await memoryVectors.spaceOf(namespace)
        const vector = found && embedText(found.space, queryTerms(query))
        if (found === undefined || vector === undefined) return {}
        return { vector: { model: found.model, vector, minSimilarity: minSpaceSimilarity } }
      } catch (error) {
        report(messageOf(error))
        return { notice: 'searched by words alone: the space of the memories could not be read' }
      }
    },
  }
}

/** Rejects when the provider fails or takes longer than a search waits. */
async function askSoon({ clock }: Deps, embedder: Embedder, query: string): Promise<Float32Array | undefined> {
  const controller = new AbortController()
  const late = clock.sleep(queryVectorTimes.waitMs, controller.signal).then(() => {
    throw new Error(`it took longer than ${queryVectorTimes.waitMs} ms`)
  })
  try {
    const [vector] = await Promise.race([embedder.embed([query], controller.signal), late])
    return vector
  } finally {
    late.catch(() => undefined)
    controller.abort()
  }
}

function createProvidedVectors(deps: Deps, embedder: Embedder): QueryVectors {
  const { memoryVectors, clock, report } = deps
  let failure = { message: '', until: 0 }

  async function ask(namespace: string, query: string) {
    const vector = await askSoon(deps, embedder, query)
    if (vector === undefined) return {}
    const model = nameModel(embedder.model, vector.length)
    const isCurrent = (await memoryVectors.modelOf(namespace))?.model === model
    const notice = 'vectors of the memories are being made anew: those that have none yet are found by words alone'
    return { vector: { model, vector, minSimilarity: 0 }, ...(!isCurrent && { notice }) }
  }

  return {
    async of(namespace, query) {
      const now = clock.now().getTime()
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

export function createQueryVectors(deps: Deps): QueryVectors {
  return deps.embedder === undefined ? createSpaceVectors(deps) : createProvidedVectors(deps, deps.embedder)
}
