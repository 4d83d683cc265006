// How well memories are found: nDCG@10 and recall@10 on Cranfield, beside minisearch and with vectors from the texts themselves.
import MiniSearch from 'minisearch'
import type { Memories } from '../src/ports/memories.ts'
import { fuseRanks } from '../src/rules/fuse-ranks.ts'
import { queryTerms, searchTerms } from '../src/rules/search-terms.ts'
import { learnSpace, placeText } from '../src/rules/text-space.ts'
import { type Collection, judge } from './cranfield.ts'
import { type Row, round } from './measure.ts'
import { makeRandom } from './memory-texts.ts'

/** The ids of the texts that answer a question, best first. */
export type Search = (question: string) => Promise<string[]>

/** So many of each order are fused. */
const fused = 200
const vectorWeight = 1.5

export async function fill(memories: Memories, { texts }: Collection): Promise<Search> {
  const namespace = 'cranfield'
  for (const { id, text } of texts) {
    await memories.create({ namespace, id, content: text, source: 'manual', disabled: false })
  }
  return async (question) => (await memories.list({ namespace, query: question, limit: fused })).map(({ id }) => id)
}

export function fillMiniSearch({ texts }: Collection): Search {
  const index = new MiniSearch({ fields: ['text'] })
  index.addAll(texts)
  return async (question) => index.search(question).map(({ id }) => String(id))
}

function multiply(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
}

export async function learn({ texts }: Collection): Promise<Search> {
  const terms = texts.map(({ text }) => searchTerms(text))
  const space = await learnSpace(terms, { random: makeRandom(7), pause: async () => {} })
  if (space === undefined) throw new Error('the collection has too few terms')
  const places = texts.flatMap(({ id }, at) => {
    const place = placeText(space, terms[at] ?? [])
    return place === undefined ? [] : [{ id, place }]
  })
  return async (question) => {
    const wanted = placeText(space, queryTerms(question))
    if (wanted === undefined) return []
    const scored = places.map(({ id, place }) => ({ id, score: multiply(wanted, place) }))
    return scored.sort((one, other) => other.score - one.score).map(({ id }) => id)
  }
}

export function fuse(words: Search, vectors: Search): Search {
  return async (question) =>
    fuseRanks([
      { keys: (await words(question)).slice(0, fused) },
      { keys: (await vectors(question)).slice(0, fused), weight: vectorWeight },
    ])
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
