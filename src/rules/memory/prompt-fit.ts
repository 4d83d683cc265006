// Which memories a task is given: those that share enough of what its prompt is about, and of long ones the part that does.
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
/** Half a passage, in characters. Of pages something is shared with every prompt, so that each passage of them is looked at by itself. */
const pieceLength = 200
/** A number of one or two digits may stand for anything. */
const shortNumber = /^\d{1,2}$/

/** They say how something is asked or told, and not what about: a memory and a prompt that share no others share nothing. */
const lightWords = `
  some something someone somebody somewhere anything anyone none nothing no not never nor neither either both each every everything
  everyone all other another others else same more most much many few less least several enough only just also even still yet already
  again always often usually sometimes ever once one two three first last next
  very too quite rather really instead almost perhaps maybe well now here before after during while until since because though although
  without within between among against through over under up down out off about above below via per like etc
  please may might must shall ought cannot
  say said tell ask make made give given take taken go going gone get got keep kept need want try use used using find found
  see seen look show put let come become done know think mean seem happen
  thing way lot kind sort sure okay yes`

/** As they are searched for. */
const lightTerms: ReadonlySet<string> = new Set(searchTerms(lightWords))

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

/** Terms of a part of a text that begins at this character. */
type Piece = { at: number; terms: readonly string[] }
type TextWindow = { at: number; terms: ReadonlySet<string> }

/** Cut between words, where there are blanks. */
function cutPieces(content: string): Piece[] {
  const pieces: Piece[] = []
  const restOfWord = /\S{0,64}/y
  for (let at = 0; at < content.length; at = restOfWord.lastIndex) {
    restOfWord.lastIndex = Math.min(at + pieceLength, content.length)
    restOfWord.exec(content)
    pieces.push({ at, terms: searchTerms(content.slice(at, restOfWord.lastIndex)) })
  }
  return pieces
}

/** Every two pieces beside each other; the tags belong to each passage. */
function joinPieces(pieces: readonly Piece[], tags: readonly string[]): TextWindow[] {
  const ofTags = searchTerms(tags.join('\n'))
  const starts = pieces.slice(0, Math.max(1, pieces.length - 1))
  return starts.map(({ at, terms }, index) => ({
    at,
    terms: new Set([...terms, ...(pieces[index + 1]?.terms ?? []), ...ofTags]),
  }))
}

function listRepeated(terms: readonly string[]): Set<string> {
  const seen = new Set<string>()
  return new Set(terms.filter((term) => seen.size === seen.add(term).size))
}

/** The telling terms that a memory shares with a prompt, their part of the weight of the sentence that it shares most of, and where. */
type Share = { terms: string[]; share: number; at: number }

/** What a memory shares with the prompt of these sentences; undefined where that is too little. */
export function createPromptFit(sentences: readonly (readonly string[])[], weights: TermWeights) {
  const sum = (terms: readonly string[]) => terms.reduce((all, term) => all + (weights.get(term) ?? 0), 0)

  function compare(
    sentence: readonly string[],
    { at, terms: has }: TextWindow,
    tells: (term: string) => boolean,
  ): Share[] {
    const terms = sentence.filter((term) => has.has(term))
    const topics = terms.filter((term) => !lightTerms.has(term))
    const [topic] = topics
    if (topic === undefined) return []
    const isOne = topics.length === 1
    const shared = isOne ? topics : terms
    const share = sum(shared) / (sum(sentence) || 1)
    const fits = isOne ? share >= minShares.byOne && tells(topic) : share >= minShares.byTwo
    return fits ? [{ terms: shared, share, at }] : []
  }

  return ({ content, tags = [] }: Pick<Memory, 'content' | 'tags'>): Share | undefined => {
    const pieces = cutPieces(content)
    const windows = joinPieces(pieces, tags)
    const repeated = listRepeated(pieces.flatMap(({ terms }) => terms))
    const named = new Set(searchTerms(tags.join('\n')))
    /** One word stands in many a long text; what the text is about, it says more than once, or its tags do. */
    const tells = (term: string) => windows.length === 1 || repeated.has(term) || named.has(term)
    const shares = windows.flatMap((window) => sentences.flatMap((sentence) => compare(sentence, window, tells)))
    return shares.sort((one, other) => other.share - one.share)[0]
  }
}

export type PromptFit = ReturnType<typeof createPromptFit>

function explain({ terms, share }: Share): string {
  return `shares with the prompt: ${terms.slice(0, shownWords).join(', ')} (${Math.round(share * 100)} % of the weight of its words)`
}

/** So many characters of it, with what is shared in the middle. */
function cutAround(content: string, at: number, length: number): string {
  const start = Math.max(0, Math.min(at + pieceLength - Math.floor(length / 2), content.length - length))
  const text = content.slice(start === 0 ? 0 : start + 1, start + length).toWellFormed()
  return start === 0 ? text : `…${text}`
}

/** The best first, as far as there is room. */
export function chooseMemories(found: readonly Memory[], shareOf: PromptFit): ProvidedMemory[] {
  const provided: ProvidedMemory[] = []
  let room: number = providedMemories.all
  for (const memory of found.slice(0, providedMemories.count)) {
    const share = shareOf(memory) ?? { terms: [], share: 0, at: 0 }
    const text = cutAround(memory.content, share.at, Math.min(providedMemories.each, room))
    if (text === '') break
    room -= text.length
    const tags = memory.tags ?? []
    provided.push({ id: memory.id, text, ...(tags.length > 0 && { tags }), why: explain(share) })
  }
  return provided
}
