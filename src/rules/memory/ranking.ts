// Which memories are found and provided: rankings are fused, then age and use count.
import type { Memory } from '../../contract/api/memory/memories.ts'
import { searchTerms } from './search-terms.ts'

/** From that paper: large enough that one list alone does not decide. */
const smoothing = 60

/** An order, the best first, and how much it counts. */
type Ranking<K> = { keys: readonly K[]; weight?: number }

/**
 * Every key of any list once, the best first. Keys that are as good stay in the order in which the lists, one after the
 * other, first name them; of a key that a list names twice the first one counts.
 */
export function fuseRanks<K>(rankings: readonly Ranking<K>[]): K[] {
  const scores = new Map<K, number>()
  for (const { keys, weight = 1 } of rankings) {
    for (const [at, key] of [...new Set(keys)].entries()) {
      scores.set(key, (scores.get(key) ?? 0) + weight / (smoothing + at + 1))
    }
  }
  return [...scores].sort(([, one], [, other]) => other - one).map(([key]) => key)
}

/** How many memories one task is given, and how long each and all together may be, in characters. */
export const providedMemories = { count: 5, each: 1200, all: 6000 } as const

/** A memory that a task is given; `why`: the words that it shares with the prompt. */
export type ProvidedMemory = { id: string; text: string; tags?: string[]; why: string }

const maxPromptLength = 2000
const shownWords = 8

/** What to look for. */
export function queryOfPrompt(prompt: string): string {
  return prompt.slice(0, maxPromptLength)
}

function explain(memory: Memory, wanted: ReadonlySet<string>): string {
  const shared = searchTerms([memory.content, ...(memory.tags ?? [])].join(' ')).filter((term) => wanted.has(term))
  const words = [...new Set(shared)].slice(0, shownWords)
  return words.length === 0 ? 'is like the prompt' : `shares with the prompt: ${words.join(', ')}`
}

/** The best first, as far as there is room. */
export function chooseMemories(found: readonly Memory[], prompt: string): ProvidedMemory[] {
  const wanted = new Set(searchTerms(queryOfPrompt(prompt)))
  const provided: ProvidedMemory[] = []
  let room: number = providedMemories.all
  for (const memory of found.slice(0, providedMemories.count)) {
    const text = memory.content.slice(0, Math.min(providedMemories.each, room))
    if (text === '') break
    room -= text.length
    const tags = memory.tags ?? []
    provided.push({ id: memory.id, text, ...(tags.length > 0 && { tags }), why: explain(memory, wanted) })
  }
  return provided
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
