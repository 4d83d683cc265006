// From text to the terms that searches compare. Stores index these very terms, so that each of them finds the same.
import { stemmer } from 'stemmer'

/** Terms in order, each once regardless of case; none for a query of blanks and quotes. */
export function splitTerms(query: string): string[] {
  const terms = [...query.matchAll(/"([^"]*)"?|([^\s"]+)/g)].map(([, phrase, word]) => (phrase ?? word ?? '').trim())
  const byFold = new Map(terms.filter(Boolean).map((term) => [term.toLowerCase(), term]))
  return [...byFold.values()]
}

/** Only this much of a text is searched, in UTF-16 units: the time to index the longest body stays small. */
export const maxSearchedLength = 262_144
/** Longer terms are cut: nobody types them, and databases limit what they index. */
const maxTermLength = 64
const maxQueryTerms = 64

/** Words with what joins them in code: `camelCase`, `snake_case`, `kebab-case`, `src/paths.ts`, `dotted.names`. */
const chunks = /[\p{L}\p{N}\p{M}]+(?:['’._\-/\\:]+[\p{L}\p{N}\p{M}]+)*|\p{Extended_Pictographic}/gu
const number = /^\d+(?:[.:]\d+)*$/
const apostrophes = /['’](?:s(?![\p{L}\p{N}\p{M}]))?/gu
/** From the widest to the closest; the last one splits `camelCase` and `HTTPServer`. */
const joints = [/[/\\:]+/u, /\.+/u, /[_-]+/u, /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u]
const runs =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]+|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]+/gu
const cjk = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const accents = /[\u0300-\u036f]/g

/** Words of questions and of grammar: too frequent to tell one text from another. */
const stopWords = new Set(
  `a about an and any are as at be been by can could did do does for from had has have how i if in into is it its of on
  or our should so such than that the their them then there these they this to was we were what when where which who
  why will with would you your`.split(/\s+/),
)

type Reading = { term(word: string): void; character(one: string): void }

/** The same for every spelling of a character that a reader takes for the same. */
function normalise(text: string): string {
  return text.slice(0, maxSearchedLength).toWellFormed().normalize('NFKD').replace(accents, '').normalize('NFKC')
}

/** Scripts without blanks: every two neighbours are a term. */
function readRun(run: string, { term, character }: Reading): void {
  const characters = Array.from(run)
  if (characters.length === 1) term(run)
  else for (const one of characters) character(one)
  for (let at = 1; at < characters.length; at += 1) term(`${characters[at - 1]}${characters[at]}`)
}

function readWord(word: string, reading: Reading): void {
  for (const [run] of word.matchAll(runs)) {
    if (cjk.test(run)) readRun(run, reading)
    else reading.term(run)
  }
}

/** What is joined is a term as a whole, without its joints, and so is each of its parts. */
function readJoined(text: string, level: number, reading: Reading): void {
  const joint = joints[level]
  if (joint === undefined) {
    readWord(text, reading)
    return
  }
  const parts = text.split(joint).filter((part) => part !== '')
  if (parts.length > 1 && !cjk.test(text)) reading.term(text.replace(/[^\p{L}\p{N}\p{M}]/gu, ''))
  for (const part of parts) readJoined(part, level + 1, reading)
}

function readText(text: string, reading: Reading): void {
  for (const [chunk] of normalise(text).matchAll(chunks)) {
    if (number.test(chunk)) reading.term(chunk)
    else readJoined(chunk.replace(apostrophes, ''), 0, reading)
  }
}

/** A term as it is indexed: lowercased, an English word reduced to its stem. */
function termOf(word: string): string {
  const lower = word.toLowerCase()
  const stem = /^[a-z]+$/.test(lower) && lower.length <= maxTermLength ? stemmer(lower) : lower
  return stem.length <= maxTermLength ? stem : stem.slice(0, maxTermLength).toWellFormed()
}

/**
 * The terms of a text, in its order and as often as they occur: words reduced to their stems, Chinese, Japanese and Korean
 * as pairs of neighbours and as single characters, identifiers of code whole and by their parts. Terms consist of letters,
 * digits and marks, but for numbers such as `2.5`, and have at most 64 UTF-16 units.
 */
export function searchTerms(text: string): string[] {
  const terms: string[] = []
  const add = (word: string) => void terms.push(termOf(word))
  readText(text, { term: add, character: add })
  return terms
}

/**
 * What a query looks for: its distinct terms, without words of grammar unless it has no others. Single characters count
 * only where nothing stands beside them. At most 64; empty when the query holds no word.
 */
export function queryTerms(query: string): string[] {
  const words: string[] = []
  readText(query, { term: (word) => void words.push(word.toLowerCase()), character: () => {} })
  const telling = words.filter((word) => !stopWords.has(word))
  return [...new Set((telling.length > 0 ? telling : words).map(termOf))].slice(0, maxQueryTerms)
}
