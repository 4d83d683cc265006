// Which memories a task begins with, in which size, and why.
import type { Memory } from '../../contract/api/memory/memories.ts'
import { searchTerms } from './search-terms.ts'

/** How many memories one task is given, and how long each and all together may be, in characters. */
export const givenMemories = { count: 5, each: 1200, all: 6000 } as const

/** A memory that a task is given; `why`: the words that it shares with the prompt. */
export type GivenMemory = { id: string; text: string; tags?: string[]; why: string }

const longestPrompt = 2000
const shownWords = 8

/** What to look for. */
export function queryOfPrompt(prompt: string): string {
  return prompt.slice(0, longestPrompt)
}

function explain(memory: Memory, wanted: ReadonlySet<string>): string {
  const shared = searchTerms([memory.content, ...(memory.tags ?? [])].join(' ')).filter((term) => wanted.has(term))
  const words = [...new Set(shared)].slice(0, shownWords)
  return words.length === 0 ? 'is like the prompt' : `shares with the prompt: ${words.join(', ')}`
}

/** The best first, as far as there is room. */
export function chooseMemories(found: readonly Memory[], prompt: string): GivenMemory[] {
  const wanted = new Set(searchTerms(queryOfPrompt(prompt)))
  const given: GivenMemory[] = []
  let room: number = givenMemories.all
  for (const memory of found.slice(0, givenMemories.count)) {
    const text = memory.content.slice(0, Math.min(givenMemories.each, room))
    if (text === '') break
    room -= text.length
    const tags = memory.tags ?? []
    given.push({ id: memory.id, text, ...(tags.length > 0 && { tags }), why: explain(memory, wanted) })
  }
  return given
}
