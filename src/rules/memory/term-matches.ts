// Where terms are in a text, how well the text fits them, and the piece of it that shows the first match.

/** Numbers are from 0 up to here: a text of any length has at most this many. */
const gramCount = 65_536

/** Folds case; the folded text has the same length, so that positions in one hold in the other. */
export function foldCase(text: string): string {
  // The one letter that becomes longer, and the one whose form depends on its position (Unicode SpecialCasing).
  return text.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ')
}

function mix(first: number, second: number, third: number): number {
  const mixed = Math.imul(Math.imul(first, 0x9e37_79b1) ^ second, 0x85eb_ca6b) ^ Math.imul(third, 0xc2b2_ae35)
  return ((mixed ^ (mixed >>> 15)) >>> 0) % gramCount
}

function isAscii(unit: number): boolean {
  return unit < 128
}

/** Gives every piece of one to three code units; single ASCII letters are everywhere, so they are left out. */
function readWord(word: string, take: (gram: number) => void): void {
  let before = 0
  let last = 0
  for (let at = 0; at < word.length; at += 1) {
    const unit = word.charCodeAt(at)
    if (!isAscii(unit)) take(mix(unit, 0, 0))
    if (at > 0) take(mix(last, unit, 0))
    if (at > 1) take(mix(before, last, unit))
    before = last
    last = unit
  }
}

/** The pieces of the texts, each once. */
export function listGrams(texts: readonly string[]): number[] {
  const seen = new Uint8Array(gramCount)
  const grams: number[] = []
  const take = (gram: number) => {
    if (seen[gram] === 0) grams.push(gram)
    seen[gram] = 1
  }
  for (const text of texts) {
    for (const [word] of foldCase(text).matchAll(/\S+/g)) readWord(word, take)
  }
  return grams
}

function listWordGrams(word: string): number[] {
  const units = Array.from({ length: word.length }, (_, at) => word.charCodeAt(at))
  const [first = 0, second = 0] = units
  if (units.length === 1) return isAscii(first) ? [] : [mix(first, 0, 0)]
  if (units.length === 2) return [mix(first, second, 0)]
  return units.slice(2).map((unit, at) => mix(units[at] ?? 0, units[at + 1] ?? 0, unit))
}

/** Pieces that a text has if it contains the term, at most `max`; none for a single ASCII letter. */
export function listTermGrams(term: string, max: number): number[] {
  const words = foldCase(term).split(/\s+/).filter(Boolean)
  return [...new Set(words.flatMap(listWordGrams))].slice(0, max)
}

/** A term, folded: the words of a phrase, or one word. */
export type TermPattern = readonly string[]

export type Match = {
  /** Position of the first match of any term, in UTF-16 code units. */
  at: number
  /** How often each term occurs; whole words count fully, parts of words half. */
  counts: number[]
  /** Length of the text. */
  length: number
}

/** A text that has a term more often than this is no better for it. */
const maxCountedMatches = 20

/** Blanks of a phrase stand for any blanks. */
export function compileTerms(terms: readonly string[]): TermPattern[] {
  return terms.map((term) => foldCase(term).split(/\s+/).filter(Boolean))
}

const blank = /\s/

/** Where the rest of a phrase ends if it follows at this position. */
function endOfRest(folded: string, rest: readonly string[], from: number): number | undefined {
  let end = from
  for (const word of rest) {
    let start = end
    while (blank.test(folded.charAt(start))) start += 1
    if (start === end || !folded.startsWith(word, start)) return undefined
    end = start + word.length
  }
  return end
}

/** The matches of the term, from the first on. */
function* findMatches(folded: string, [first = '', ...rest]: TermPattern): Generator<{ start: number; end: number }> {
  for (let start = folded.indexOf(first); start !== -1; start = folded.indexOf(first, start + 1)) {
    const end = endOfRest(folded, rest, start + first.length)
    if (end !== undefined) yield { start, end }
  }
}

const wordUnit = /[\p{L}\p{N}_]/u

function isWhole(text: string, start: number, end: number): boolean {
  return !wordUnit.test(text.charAt(start - 1)) && !wordUnit.test(text.charAt(end))
}

function countTerm(folded: string, pattern: TermPattern): { at: number; count: number } | undefined {
  let at: number | undefined
  let count = 0
  for (const { start, end } of findMatches(folded, pattern)) {
    at ??= start
    count += isWhole(folded, start, end) ? 1 : 0.5
    if (count >= maxCountedMatches) break
  }
  return at === undefined ? undefined : { at, count }
}

/** Undefined unless the text contains every term. */
export function matchTerms(text: string, patterns: readonly TermPattern[]): Match | undefined {
  const folded = foldCase(text)
  const counts: number[] = []
  let first = folded.length
  for (const pattern of patterns) {
    const found = countTerm(folded, pattern)
    if (found === undefined) return undefined
    first = Math.min(first, found.at)
    counts.push(found.count)
  }
  return { at: first, counts, length: text.length }
}

const saturation = 1.2
const lengthWeight = 0.75

/** As BM25 weighs frequency and length (Robertson and Zaragoza 2009, 3.2); every text here has every term. */
export function scoreMatch({ counts, length }: Match, averageLength: number): number {
  const norm = saturation * (1 - lengthWeight + lengthWeight * (length / Math.max(averageLength, 1)))
  return counts.reduce((sum, count) => sum + (count * (saturation + 1)) / (count + norm), 0)
}

/** Part of the snippet that is before the first match. */
const leadShare = 0.25

/** Whether a cut there would part a surrogate pair. */
function partsPair(text: string, at: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at))
}

/** At most `max` code units of the text around the match, with `…` where text is left out. */
export function cutSnippet(text: string, at: number, max: number): string {
  if (text.length <= max) return text
  const room = Math.max(max - 2, 1)
  const wanted = Math.max(0, at - Math.floor(room * leadShare))
  const first = Math.min(wanted, text.length - room)
  const start = partsPair(text, first) ? first + 1 : first
  const last = Math.min(text.length, first + room)
  const end = partsPair(text, last) ? last - 1 : last
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
