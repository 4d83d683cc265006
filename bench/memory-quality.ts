// How well memories are found: nDCG@10 and recall@10 on Cranfield, beside minisearch, as the service searches them.
import MiniSearch from 'minisearch'
import { createMemoryVectorController } from '../src/controllers/memory/vectors.ts'
import { systemClock as clock } from '../src/lib/system-clock.ts'
import { createQueryVectors } from '../src/lookup/query-vectors.ts'
import type { Records } from '../src/ports/index.ts'
import { type Collection, judge } from './cranfield.ts'
import { type Row, round } from './measure.ts'
import { makeRandom } from './memory-texts.ts'

export type Stores = Pick<Records, 'memories' | 'memoryVectors'>
/** The ids of the texts that answer a question, best first. */
export type Search = (question: string) => Promise<string[]>

const log = { debug: () => {}, info: () => {}, warn: console.warn, error: console.error }
const most = 10

export async function fill({ memories }: Stores, { texts }: Collection, namespace: string): Promise<void> {
  for (const { id, text } of texts) {
    await memories.create({ namespace, id, content: text, source: 'manual', disabled: false })
  }
}

/** What the service does in the background without a provider of vectors, here without pauses; until nothing is left to do. */
export async function learnVectors({ memoryVectors: vectors }: Stores, seed = 7): Promise<void> {
  const busy = { ...clock, sleep: () => new Promise<void>((resolve) => void setImmediate(resolve)) }
  const controller = createMemoryVectorController({ vectors, clock: busy, log, random: makeRandom(seed) })
  await controller.reconcile('place', new AbortController().signal)
}

/** Searches as the service does, which uses vectors where there are some. */
export function searchWith({ memories, memoryVectors }: Stores, namespace: string, limit = most): Search {
  const queries = createQueryVectors({ memoryVectors, clock, report: console.warn })
  return async (question) => {
    const { vector } = await queries.of(namespace, question)
    return (await memories.list({ namespace, query: question, vector, limit })).map(({ id }) => id)
  }
}

export function fillMiniSearch({ texts }: Collection): Search {
  const index = new MiniSearch({ fields: ['text'] })
  index.addAll(texts)
  return async (question) => index.search(question).map(({ id }) => String(id))
}

export async function measureQuality(what: string, search: Search, { judged }: Collection): Promise<Row> {
  let ndcg = 0
  let recall = 0
  for (const { question, gains } of judged) {
    const found = judge(await search(question), gains)
    ndcg += found.ndcg / judged.length
    recall += found.recall / judged.length
  }
  return { what, 'nDCG@10': round(ndcg, 3), 'recall@10': round(recall, 3) }
}
