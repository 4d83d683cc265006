// Which memories a task is given, and in which order memories are found: by score, then by age and use.
import type { Memory } from '../../contract/api/memory/memories.ts'
import { searchTerms, tellingTerms } from './search-terms.ts'

/** How many memories one task is given, and how long each and all together may be, in characters. */
export const providedMemories = { count: 5, each: 1200, all: 6000 } as const

/** A memory that a task is given; `why`: the words that it shares with the prompt, and how much of what the prompt is about. */
export type ProvidedMemory = { id: string; text: string; tags?: string[]; why: string }

/** How much each term tells: the fewer of the memories have it, the more. */
export type TermWeights = ReadonlyMap<string, number>

const maxPromptLength = 2000
const shownWords = 8
/** The least part of what a sentence is about that a memory shares: of its rarest words one does, of others it takes two. */
const minShares = { byOne: 0.2, byTwo: 0.15 } as const
/** Sentences with fewer telling words are read together with the next one: of two words one is always half of them. */
const minSentenceTerms = 5
/** A number of one or two digits may stand for anything. */
const shortNumber = /^\d{1,2}$/

/** What to look for. */
export function queryOfPrompt(prompt: string): string {
  return prompt.slice(0, maxPromptLength)
}

const sentenceEnds = /[.!?。！？](?=\s|$)|[\n。！？]/

/** The terms of each of its sentences, short ones together: a long prompt is about several things, and a memory about one of them. */
export function readSentences(prompt: string): string[][] {
  const sentences: string[][] = [[]]
  for (const text of queryOfPrompt(prompt).split(sentenceEnds)) {
    const terms = tellingTerms(text).filter((term) => !shortNumber.test(term))
    const last = sentences.at(-1) ?? []
    if (last.length < minSentenceTerms) sentences.splice(-1, 1, [...new Set([...last, ...terms])])
    else if (terms.length > 0) sentences.push(terms)
  }
  const [before, end] = sentences.slice(-2)
  if (before === undefined || end === undefined || end.length >= minSentenceTerms) return sentences
  return [...sentences.slice(0, -2), [...new Set([...before, ...end])]]
}

/** The telling terms that a memory shares with a prompt, and their part of the weight of the sentence that it shares most of. */
type Share = { terms: string[]; share: number }

/** What a memory shares with the prompt of these sentences; undefined where that is too little. */
export function createPromptFit(sentences: readonly (readonly string[])[], weights: TermWeights) {
  const sum = (terms: readonly string[]) => terms.reduce((all, term) => all + (weights.get(term) ?? 0), 0)
  return ({ content, tags = [] }: Pick<Memory, 'content' | 'tags'>): Share | undefined => {
    const has = new Set(searchTerms([content, ...tags].join('\n')))
    const shares = sentences.map((sentence): Share => {
      const terms = sentence.filter((term) => has.has(term))
      return { terms, share: sum(terms) / (sum(sentence) || 1) }
    })
    const fitting = shares.filter(
      ({ terms, share }) => share >= (terms.length > 1 ? minShares.byTwo : minShares.byOne) && terms.length > 0,
    )
    return fitting.sort((one, other) => other.share - one.share)[0]
  }
}

export type PromptFit = ReturnType<typeof createPromptFit>

function explain(found: Share | undefined): string {
  const { terms, share } = found ?? { terms: [], share: 0 }
  return `shares with the prompt: ${terms.slice(0, shownWords).join(', ')} (${Math.round(share * 100)} % of the weight of its words)`
}

/** The best first, as far as there is room. */
export function chooseMemories(found: readonly Memory[], shareOf: PromptFit): ProvidedMemory[] {
  const provided: ProvidedMemory[] = []
  let room: number = providedMemories.all
  for (const memory of found.slice(0, providedMemories.count)) {
    const text = memory.content.slice(0, Math.min(providedMemories.each, room))
    if (text === '') break
    room -= text.length
    const tags = memory.tags ?? []
    provided.push({ id: memory.id, text, ...(tags.length > 0 && { tags }), why: explain(shareOf(memory)) })
  }
  return provided
}

/** The first memory with each text: the same words twice are one memory. */
export function dropRepeated<T>(found: readonly T[], textOf: (one: T) => string): T[] {
  const byText = new Map<string, T>()
  for (const one of found) {
    const text = textOf(one).trim().replaceAll(/\s+/g, ' ').toLowerCase()
    if (!byText.has(text)) byText.set(text, one)
  }
  return [...byText.values()]
}

/** A memory that matches; a higher score is a better match. */
type RankedMemory = { id: string; score: number; updatedAt: string; recalledCount: number }

/** Scores that differ by less than this part of the best one count as equal. */
const steps = 200

function compareText(one: string, other: string): number {
  return one === other ? 0 : one < other ? 1 : -1
}

/**
 * Best first. Among equal matches, those that were changed on a later day come first, then those that are recalled more,
 * then the exact score.
 */
export function rankMemories<T extends RankedMemory>(found: readonly T[]): T[] {
  const best = Math.max(...found.map(({ score }) => score), Number.MIN_VALUE)
  const levelOf = ({ score }: T) => Math.round((score / best) * steps)
  const dayOf = ({ updatedAt }: T) => updatedAt.slice(0, 10)
  return found.toSorted(
    (one, other) =>
      levelOf(other) - levelOf(one) ||
      compareText(dayOf(one), dayOf(other)) ||
      other.recalledCount - one.recalledCount ||
      other.score - one.score ||
      compareText(one.updatedAt, other.updatedAt) ||
      compareText(one.id, other.id),
  )
}
