// What tells that a memory is meant beside its own words: that it is like the best of those found, and what was written around it.
// The decision on the search of memories in docs/adr has the figures that the numbers were chosen by.
import { searchTerms } from './search-terms.ts'

/** A memory that was found; the higher the score, the better. */
export type Scored = { number: number; score: number }
/** `origin`: the session or the task that it was written in. */
export type Placed = Scored & { origin?: string | undefined }

/** How many of the best are compared with each other, and how many of a text's characters. */
export const compared = { memories: 64, characters: 1200 } as const
/** The best ones that the others are compared with, and what a text that is the same gains: as much as the best score twice. */
const likeness = { references: 2, weight: 2 } as const
/** Shares of the scores of the memories before and after, and of the score of the whole session or task, that a memory gains. */
const around = { beside: 0.2, origin: 0.3 } as const

type Vector = ReadonlyMap<string, number>

/** How often each of them is there. */
export function countTerms(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** Vectors of length 1 of the texts: a term that few of them have counts more, and one whose weight is known as that says. */
function weighTexts(texts: readonly string[], known: Vector): Vector[] {
  const counted = texts.map((text) => countTerms(searchTerms(text)))
  const having = countTerms(counted.flatMap((counts) => [...counts.keys()]))
  const weigh = (term: string) => {
    const count = having.get(term) ?? 0
    return known.get(term) ?? Math.log(1 + (texts.length - count + 0.5) / (count + 0.5))
  }
  return counted.map((counts) => {
    const weights = [...counts].map(([term, count]) => [term, (1 + Math.log(count)) * weigh(term)] as const)
    const length = Math.hypot(...weights.map(([, weight]) => weight)) || 1
    return new Map(weights.map(([term, weight]) => [term, weight / length]))
  })
}

function compare(one: Vector, other: Vector): number {
  const [few, many] = one.size < other.size ? [one, other] : [other, one]
  let product = 0
  for (const [term, weight] of few) product += weight * (many.get(term) ?? 0)
  return product
}

/** The highest of them; above 0, so that one can divide by it. */
function highest(scores: Iterable<number>): number {
  return Math.max(Number.MIN_VALUE, ...scores)
}

/**
 * The found ones, best first, with scores from 0 to 1 that also tell how like each is to the first of them; `texts` are those of
 * the first ones, by number, and `weights` those of the query's terms.
 */
export function addLikeness<T extends Scored>(
  found: readonly T[],
  texts: ReadonlyMap<number, string>,
  weights: ReadonlyMap<string, number>,
): T[] {
  const best = highest(found.map(({ score }) => score))
  const first = found.slice(0, compared.memories)
  const vectors = weighTexts(
    first.map(({ number }) => texts.get(number) ?? ''),
    weights,
  )
  const references = first.slice(0, likeness.references).map(({ score }, at) => ({
    vector: vectors[at] ?? new Map(),
    weight: (score / best) ** 2,
  }))
  const whole = references.reduce((sum, { weight }) => sum + weight, 0) || 1
  const likenessOf = (vector: Vector) =>
    references.reduce((sum, reference) => sum + (reference.weight / whole) * compare(vector, reference.vector), 0)
  return scale(
    found.map((one, at) => {
      const vector = vectors[at]
      return { ...one, score: one.score / best + (vector === undefined ? 0 : likeness.weight * likenessOf(vector)) }
    }),
  )
}

function scale<T extends Scored>(found: readonly T[]): T[] {
  const best = highest(found.map(({ score }) => score))
  return found.map((one) => ({ ...one, score: one.score / best }))
}

/** What is known of a session or a task by the memories that were found of it: the sum of its best ones, each less than the one before. */
function scoreOrigins(found: readonly Placed[], keyOf: (one: Placed) => string | number): Map<string | number, number> {
  const byOrigin = Map.groupBy(found, keyOf)
  const scores = [...byOrigin].map(([origin, members]) => {
    const sorted = members.map(({ score }) => score).sort((one, other) => other - one)
    return [origin, sorted.reduce((sum, score, at) => sum + score / (at + 1), 0)] as const
  })
  const best = highest(scores.map(([, score]) => score))
  return new Map(scores.map(([origin, score]) => [origin, score / best]))
}

/**
 * The same memories with what their session or task adds to their scores, which are from 0 to 1; `pairs`: the numbers of those that
 * were written one after the other in the same. A memory without an origin is an origin of its own.
 */
export function addSurroundings<T extends Placed>(
  found: readonly T[],
  pairs: readonly (readonly [number, number])[],
): T[] {
  const own = new Map(found.map(({ number, score }) => [number, score]))
  const gained = new Map<number, number>()
  const gain = (number: number, from: number) =>
    gained.set(number, (gained.get(number) ?? 0) + around.beside * (own.get(from) ?? 0))
  for (const [before, after] of pairs) {
    gain(before, after)
    gain(after, before)
  }
  const keyOf = ({ origin, number }: Placed) => origin ?? number
  const origins = scoreOrigins(found, keyOf)
  return found.map((one) => ({
    ...one,
    score: one.score + (gained.get(one.number) ?? 0) + around.origin * (origins.get(keyOf(one)) ?? 0),
  }))
}
