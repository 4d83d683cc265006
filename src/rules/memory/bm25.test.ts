import { describe, expect, it } from 'vitest'
import { createScorer, type Postings, weighAlone } from './bm25.ts'

/** Numbers in [0, 1) that only look random (Park and Miller). */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

type Text = { group: number; terms: string[] }

function makeTexts(count: number): Text[] {
  const random = makeRandom(5)
  return Array.from({ length: count }, () => ({
    group: 1 + Math.floor(random() * 2),
    terms: Array.from({ length: 1 + Math.floor(random() * 30) }, () => `t${Math.floor(random() ** 3 * 40)}`),
  }))
}

const countOf = ({ terms }: Text, term: string) => terms.filter((one) => one === term).length

/** The formula as it is printed, text by text. */
function scoreSlowly(texts: readonly Text[], query: readonly string[], group: number): Map<number, number> {
  const mine = texts.filter((text) => text.group === group)
  const average = mine.reduce((sum, { terms }) => sum + terms.length, 0) / mine.length
  const scores = new Map<number, number>()
  for (const [number, text] of texts.entries()) {
    if (text.group !== group) continue
    let score = 0
    for (const term of query) {
      const having = mine.filter((one) => countOf(one, term) > 0).length
      const count = countOf(text, term)
      const rarity = Math.log(1 + (mine.length - having + 0.5) / (having + 0.5))
      score += (rarity * count * 2.2) / (count + 1.2 * (0.5 + (0.5 * text.terms.length) / average))
    }
    if (score > 0) scores.set(number, score)
  }
  return scores
}

function listsOf(texts: readonly Text[], query: readonly string[]): Postings[] {
  return query.map((term) => {
    const having = [...texts.entries()].filter(([, text]) => countOf(text, term) > 0)
    return {
      texts: Uint32Array.from(having, ([number]) => number),
      counts: Uint8Array.from(having, ([, text]) => countOf(text, term)),
      size: having.length,
    }
  })
}

describe('BM25 over lists of texts', () => {
  const texts = makeTexts(400)
  const searched = {
    lengths: Uint32Array.from(texts, ({ terms }) => terms.length),
    groups: Uint32Array.from(texts, ({ group }) => group),
  }
  const groupOf = (group: number) => {
    const mine = texts.filter((text) => text.group === group)
    return { group, texts: mine.length, terms: mine.reduce((sum, { terms }) => sum + terms.length, 0) }
  }
  const score = createScorer()

  it.each([
    [['t0', 't1', 't2'], 1],
    [['t0'], 2],
    [['t5', 't20', 't39'], 2],
    [['unknown', 't3'], 1],
  ])('gives every text that has any of %j the score of the formula', (query, group) => {
    const expected = scoreSlowly(texts, query, group)
    const found = score(listsOf(texts, query), { ...searched, ...groupOf(group) }, 1000)
    expect(new Set(found.map(({ number }) => number))).toEqual(new Set(expected.keys()))
    for (const { number, score } of found) expect(score).toBeCloseTo(expected.get(number) ?? 0, 9)
    expect(found.map(({ score }) => score)).toEqual(found.map(({ score }) => score).toSorted((a, b) => b - a))
  })

  it.each([1, 10, 60])('keeps the best %i of them', (limit) => {
    const query = ['t0', 't1', 't7']
    const best = [...scoreSlowly(texts, query, 1).values()].sort((a, b) => b - a).slice(0, limit)
    const found = score(listsOf(texts, query), { ...searched, ...groupOf(1) }, limit)
    expect(found).toHaveLength(limit)
    for (const [at, { score }] of found.entries()) expect(score).toBeCloseTo(best[at] ?? 0, 9)
  })

  it('finds nothing by terms that no text has', () => {
    expect(score(listsOf(texts, ['unknown']), { ...searched, ...groupOf(1) }, 10)).toEqual([])
  })
})

it('a word that the only text has tells about as much as one of few, not nothing', () => {
  expect(weighAlone(1, 1)).toBeCloseTo(weighAlone(20, 1))
  expect(weighAlone(1, 1)).toBeGreaterThan(0.6 * weighAlone(1, 0))
})
