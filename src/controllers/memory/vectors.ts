// Makes vectors of memories by a provider's model, in the background and in short pieces. Without one nothing waits for vectors.
import { messageOf } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Embedder, MemoryToEmbed, MemoryVectors } from '../../ports/memory/vectors.ts'
import { nameModel } from '../../rules/memory/vectors.ts'
import { type Controller, createTimerSource, defineController, type Log } from '../engine/controller.ts'

const times = { firstMs: 5_000, intervalMs: 10_000 }
/** Between two pieces, so that nobody else waits long. */
const pauseMs = 5
/** Memories that are taken off the list at once; a provider takes no more than 64 texts. */
const maxBatch = { byProvider: 64, byNobody: 256 }
/** What makes the vectors of a namespace where nothing does: with the next provider all of its memories are put on the list again. */
const nobody = ''
/** Tells whether a provider answers, and how many numbers its vectors have. */
const anyText = 'memory'

export type MemoryVectorDeps = {
  vectors: MemoryVectors
  clock: Clock
  log: Log
  /** Absent: there are no vectors. */
  embedder?: Embedder | undefined
}

/** Something to do in short pieces. */
type Maker = {
  /** Makes vectors of these memories of one namespace and takes them off the list; false when that has to wait. */
  embed(waiting: readonly MemoryToEmbed[], signal: AbortSignal): Promise<boolean>
  /** Settles what makes the vectors of the namespace; whether its memories need new ones. */
  settle(namespace: string, signal: AbortSignal): Promise<boolean>
}

/** Empties the list, and forgets what made vectors before. */
function createNoMaker({ vectors }: MemoryVectorDeps): Maker {
  return {
    async embed(waiting) {
      await vectors.save(waiting.map(({ text: _text, ...one }) => ({ ...one, model: nobody })))
      return true
    },
    async settle(namespace) {
      if (((await vectors.modelOf(namespace)) ?? nobody) !== nobody) await vectors.setModel(namespace, nobody)
      return false
    },
  }
}

function createProvidedMaker({ vectors, log }: MemoryVectorDeps, embedder: Embedder): Maker {
  async function settleModel(namespace: string, model: string): Promise<void> {
    const current = await vectors.modelOf(namespace)
    if (current === model) return
    if (current !== undefined) await vectors.requeueAll(namespace)
    await vectors.setModel(namespace, model)
  }

  async function embed(waiting: readonly MemoryToEmbed[], signal: AbortSignal): Promise<void> {
    const made = await embedder.embed(
      waiting.map(({ text }) => text),
      signal,
      waiting[0]?.namespace,
    )
    const dimension = made.find((vector) => vector !== undefined)?.length
    const model = dimension === undefined ? '' : nameModel(embedder.model, dimension)
    if (model !== '')
      for (const name of new Set(waiting.map(({ namespace }) => namespace))) await settleModel(name, model)
    await vectors.save(waiting.map(({ text: _text, ...one }, at) => ({ ...one, model, vector: made[at] })))
  }

  /** Whether the provider takes any text; then it was one of the texts that it refused. */
  async function answers(signal: AbortSignal): Promise<boolean> {
    return embedder.embed([anyText], signal).then(
      () => true,
      () => false,
    )
  }

  async function embedEach(waiting: readonly MemoryToEmbed[], signal: AbortSignal): Promise<void> {
    for (const one of waiting) {
      try {
        await embed([one], signal)
      } catch (error) {
        if (signal.aborted || !(await answers(signal))) throw error
        log.warn(
          { namespace: one.namespace, error: messageOf(error) },
          'a memory has no vector: the provider refused it',
        )
        await vectors.save([{ ticket: one.ticket, memory: one.memory, namespace: one.namespace, model: '' }])
      }
    }
  }

  return {
    async embed(waiting, signal) {
      try {
        await embed(waiting, signal)
        return true
      } catch (error) {
        if (!signal.aborted && (await answers(signal))) {
          await embedEach(waiting, signal)
          return true
        }
        log.warn({ model: embedder.model, error: messageOf(error) }, 'no vectors of memories: the provider fails')
        return false
      }
    },
    async settle(namespace, signal) {
      const current = await vectors.modelOf(namespace)
      if (current?.startsWith(`${embedder.model}#`)) return false
      const [vector] = await embedder.embed([anyText], signal, namespace)
      if (vector === undefined) return false
      await vectors.requeueAll(namespace)
      await vectors.setModel(namespace, nameModel(embedder.model, vector.length))
      return true
    },
  }
}

export function createMemoryVectorController(deps: MemoryVectorDeps): Controller {
  const { vectors, clock, embedder } = deps
  const maker = embedder === undefined ? createNoMaker(deps) : createProvidedMaker(deps, embedder)
  let isUnsettled = true

  async function settleAll(signal: AbortSignal): Promise<boolean> {
    let isMore = false
    for (const namespace of await vectors.listNamespaces()) {
      if (await maker.settle(namespace, signal)) isMore = true
    }
    isUnsettled = false
    return isMore
  }

  /** Whether there may be more to do at once. */
  async function step(signal: AbortSignal): Promise<boolean> {
    const waiting = await vectors.listPending(embedder === undefined ? maxBatch.byNobody : maxBatch.byProvider)
    if (waiting.length === 0) return isUnsettled && settleAll(signal)
    isUnsettled = true
    for (const own of Map.groupBy(waiting, ({ namespace }) => namespace).values()) {
      if (!(await maker.embed(own, signal))) return false
    }
    return true
  }

  return defineController({
    name: 'memory vectors',
    sources: [createTimerSource('place', times, (ms, signal) => clock.sleep(ms, signal))],
    concurrency: 1,
    begin: () => {
      isUnsettled = true
    },
    async reconcile(_key, signal) {
      while (!signal.aborted && (await step(signal))) await clock.sleep(pauseMs, signal).catch(() => undefined)
      return undefined
    },
  })
}
