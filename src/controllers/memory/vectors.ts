// Makes vectors of memories, in the background and in short pieces: by a provider's model, or by a space that is learnt from the
// memories of a namespace once there are enough, and anew when there are half as many again.
import { messageOf } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Embedder, MemoryToEmbed, MemoryVectors } from '../../ports/memory/vectors.ts'
import { searchTerms } from '../../rules/memory/search-terms.ts'
import { embedText, learnSpace } from '../../rules/memory/text-space.ts'
import { nameModel } from '../../rules/memory/vectors.ts'
import { type Controller, createTimerSource, defineController, type Log } from '../engine/controller.ts'

const times = { firstMs: 5_000, intervalMs: 10_000 }
/** Between two pieces, so that nobody else waits long. */
const pauseMs = 5
/** Memories that are embedded at once; a provider takes no more than 64 texts. */
const maxBatch = { bySpace: 256, byProvider: 64 }
/** Fewer memories say too little of which words go together. */
const minTextsToLearn = 200
/** The newest; more cost more and tell little more. */
const maxTextsToLearn = 10_000
const readAtOnce = 200
const growth = 1.5
const dimensions = { min: 16, max: 96, textsForEach: 15 }
const spaceModel = 'space'
/** Tells whether a provider answers, and how many numbers its vectors have. */
const anyText = 'memory'

export type MemoryVectorDeps = {
  vectors: MemoryVectors
  clock: Clock
  log: Log
  random(): number
  /** Absent: spaces are learnt. */
  embedder?: Embedder | undefined
}

/** With as many directions as there are subjects, texts of one subject come together; the more texts, the more subjects. */
function chooseDimension(texts: number): number {
  return Math.min(dimensions.max, Math.max(dimensions.min, Math.floor(texts / dimensions.textsForEach)))
}

/** Something to do in short pieces. */
type Maker = {
  /** Makes vectors of these memories and takes them off the list; false when that has to wait. */
  embed(waiting: readonly MemoryToEmbed[], signal: AbortSignal): Promise<boolean>
  /** Settles what makes the vectors of the namespace; whether its memories need new ones. */
  settle(namespace: string, memories: number, signal: AbortSignal): Promise<boolean>
}

function createSpaceMaker({ vectors, clock, random }: MemoryVectorDeps): Maker {
  /** At how many memories there was nothing to learn. */
  const vain = new Map<string, number>()

  async function readTerms(namespace: string, signal: AbortSignal): Promise<string[][]> {
    const terms: string[][] = []
    let before: number | undefined
    while (terms.length < maxTextsToLearn && !signal.aborted) {
      const page = await vectors.listTexts(namespace, { before, limit: readAtOnce })
      terms.push(...page.map(({ text }) => searchTerms(text)))
      before = page.at(-1)?.memory
      if (page.length < readAtOnce) break
      await clock.sleep(pauseMs, signal).catch(() => undefined)
    }
    return terms
  }

  async function learn(namespace: string, memories: number, signal: AbortSignal): Promise<boolean> {
    const pause = async () => {
      signal.throwIfAborted()
      await new Promise((resolve) => void setImmediate(resolve))
    }
    const texts = await readTerms(namespace, signal)
    const space = await learnSpace(texts, { random, pause, dimension: chooseDimension(texts.length) })
    if (space === undefined) {
      vain.set(namespace, memories)
      return false
    }
    // A crash before the model is settled only means that it is learnt again.
    await vectors.requeueAll(namespace)
    await vectors.setModel(namespace, { model: `${spaceModel}/${clock.now().getTime()}`, memories, space })
    return true
  }

  return {
    async embed(waiting) {
      const embedded = []
      for (const { text, ...one } of waiting) {
        const found = await vectors.spaceOf(one.namespace)
        const vector = found && embedText(found.space, searchTerms(text))
        embedded.push({ ...one, model: found?.model ?? '', vector })
      }
      await vectors.save(embedded)
      return true
    },
    async settle(namespace, memories, signal) {
      const current = await vectors.modelOf(namespace)
      const isLearnt = current?.model.startsWith(`${spaceModel}/`)
      const learnt = Math.max(isLearnt ? (current?.memories ?? 0) : 0, vain.get(namespace) ?? 0)
      if (memories < minTextsToLearn || memories < learnt * growth) return false
      return learn(namespace, memories, signal)
    },
  }
}

function createProvidedMaker({ vectors, log }: MemoryVectorDeps, embedder: Embedder): Maker {
  async function settleModel(namespace: string, model: string): Promise<void> {
    const current = await vectors.modelOf(namespace)
    if (current?.model === model) return
    if (current !== undefined) await vectors.requeueAll(namespace)
    await vectors.setModel(namespace, { model, memories: 0 })
  }

  async function embed(waiting: readonly MemoryToEmbed[], signal: AbortSignal): Promise<void> {
    const made = await embedder.embed(
      waiting.map(({ text }) => text),
      signal,
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
    async settle(namespace, _memories, signal) {
      const current = await vectors.modelOf(namespace)
      if (current?.model.startsWith(`${embedder.model}#`)) return false
      const [vector] = await embedder.embed([anyText], signal)
      if (vector === undefined) return false
      await vectors.requeueAll(namespace)
      await vectors.setModel(namespace, { model: nameModel(embedder.model, vector.length), memories: 0 })
      return true
    },
  }
}

export function createMemoryVectorController(deps: MemoryVectorDeps): Controller {
  const { vectors, clock, embedder } = deps
  const maker = embedder === undefined ? createSpaceMaker(deps) : createProvidedMaker(deps, embedder)
  let isUnsettled = true

  async function settleAll(signal: AbortSignal): Promise<boolean> {
    let isMore = false
    for (const { namespace, memories } of await vectors.countMemories()) {
      if (await maker.settle(namespace, memories, signal)) isMore = true
    }
    isUnsettled = false
    return isMore
  }

  /** Whether there may be more to do at once. */
  async function step(signal: AbortSignal): Promise<boolean> {
    const waiting = await vectors.listPending(embedder === undefined ? maxBatch.bySpace : maxBatch.byProvider)
    if (waiting.length === 0) return isUnsettled && settleAll(signal)
    isUnsettled = true
    return maker.embed(waiting, signal)
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
