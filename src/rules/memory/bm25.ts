// How well texts match a query by its words: Okapi BM25 (Robertson and Zaragoza, 2009), over lists of which text has which term.

/** How soon repetition stops counting, and how much length counts: the decision on the search of memories has the figures. */
export const bm25 = { saturation: 1.2, lengthShare: 0.5 } as const

/** The texts that have a term, by number, and how often each has it; the first `size` entries count. */
export type Postings = { texts: Uint32Array; counts: Uint8Array; size: number }

/** What is searched: of each text, by number, its number of terms and the group that it belongs to. */
export type TextLengths = { lengths: Uint32Array; groups: Uint32Array }

/** Only texts of this group are found, and it alone decides how rare a term is. */
export type Group = { group: number; texts: number; terms: number }

export type ScoredText = { number: number; score: number }

/** Rarer terms weigh more; never below zero, as in Lucene. */
export function weighTerm(texts: number, having: number): number {
  return Math.log(1 + (Math.max(texts, having) - having + 0.5) / (having + 0.5))
}

/** Among fewer texts a word that one of them has would tell next to nothing. */
const minTexts = 20

/** What a term tells by itself, in a group of any size. */
export function weighAlone(texts: number, having: number): number {
  return weighTerm(Math.max(texts, minTexts), having)
}

/** How many texts of the group have the term. */
export function countHaving({ texts, size }: Postings, groups: Uint32Array, group: number): number {
  let having = 0
  for (let at = 0; at < size; at += 1) if (groups[texts[at] ?? 0] === group) having += 1
  return having
}

/** The best `limit` of what is added, best first. */
function createBest(limit: number) {
  let best: ScoredText[] = []
  let minScore = 0
  const trim = () => {
    best.sort((one, other) => other.score - one.score)
    if (best.length <= limit) return
    best = best.slice(0, limit)
    minScore = best.at(-1)?.score ?? 0
  }
  return {
    add(number: number, score: number): void {
      if (score <= minScore) return
      best.push({ number, score })
      if (best.length >= limit * 2 + 64) trim()
    },
    read(): ScoredText[] {
      trim()
      return best
    },
  }
}

/** What a term adds to a text that has it: `weight * count / (count + fixed + perTerm * length)`. */
function measureTerm(postings: Postings, { groups, group, texts, terms }: TextLengths & Group) {
  return {
    weight: weighTerm(texts, countHaving(postings, groups, group)) * (bm25.saturation + 1),
    fixed: bm25.saturation * (1 - bm25.lengthShare),
    perTerm: (bm25.saturation * bm25.lengthShare * texts) / Math.max(terms, 1),
  }
}

/** Scores of texts while they are summed up; kept from search to search, because there is one for every text. */
export function createScorer() {
  let scores = new Float64Array(0)

  function add(number: number, score: number, touched: number[]): void {
    const before = scores[number] ?? 0
    if (before === 0) touched.push(number)
    scores[number] = before + score
  }

  function sum(postings: Postings, searched: TextLengths & Group, touched: number[]): void {
    const { groups, lengths, group } = searched
    const { weight, fixed, perTerm } = measureTerm(postings, searched)
    for (let at = 0; at < postings.size; at += 1) {
      const number = postings.texts[at] ?? 0
      if (groups[number] !== group) continue
      const count = postings.counts[at] ?? 0
      add(number, (weight * count) / (count + fixed + perTerm * (lengths[number] ?? 0)), touched)
    }
  }

  /** The `limit` best of the group that have any of the terms, best first. */
  return (terms: readonly Postings[], searched: TextLengths & Group, limit: number): ScoredText[] => {
    if (scores.length < searched.lengths.length) scores = new Float64Array(searched.lengths.length)
    const touched: number[] = []
    for (const postings of terms) sum(postings, searched, touched)
    const best = createBest(limit)
    for (const number of touched) {
      best.add(number, scores[number] ?? 0)
      scores[number] = 0
    }
    return best.read()
  }
}
