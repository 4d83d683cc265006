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

/** Words with what joins them in code: `camelCase`, `snake_case`, `kebab-case`, `src/paths.ts`, `dotted.names`, `ada@example.com`. */
const chunks = /[\p{L}\p{N}\p{M}]+(?:['’._\-/\\:@]+[\p{L}\p{N}\p{M}]+)*|\p{Extended_Pictographic}/gu
const plainWord = /^[A-Za-z][a-z]*$/
const number = /^\d+(?:[.:]\d+)*$/
/** Versions and addresses, whatever sticks to them: `v2.4.0`, `app:1.25.3-alpine`, `10.0.0.7/24`. */
const dottedNumbers = /(?<![\d.])\d+(?:\.\d+)+/g
/** What a name holds beside its digits, and digits that tell something alone: `python3`, `sha256`. */
const lettersOrDigits = /\p{L}{2,}|\d{3,}/gu
const apostrophes = /['’](?:s(?![\p{L}\p{N}\p{M}]))?/gu
/** From the widest to the closest; the last one splits `camelCase` and `HTTPServer`. */
const joints = [/[/\\:@]+/u, /\.+/u, /[_-]+/u, /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u]
const runs =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]+|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}ー]+/gu
const cjk = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u
const accents = /[\u0300-\u036f]/g

/** Words of questions and of grammar: too frequent to tell one text from another. */
const stopWords = new Set(
  `a about an and any are as at be been by can could did do does for from had has have he her hers him his how i if in
  into is it its me my of on or our she should so such than that the their them then there these they this to was we were
  what when where which who why will with would you your`.split(/\s+/),
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
    else readName(run, reading)
  }
}

/** A word, and of one that holds digits the letters and the long numbers as well. */
function readName(name: string, { term }: Reading): void {
  term(name)
  if (!/\d/.test(name)) return
  for (const [part] of name.matchAll(lettersOrDigits)) if (part !== name) term(part)
}

/** The port of an address is found by itself; the hours of a time of day are not. */
function readNumber(chunk: string, { term }: Reading): void {
  term(chunk)
  const isAddress = chunk.includes('.')
  const parts = chunk.split(':')
  if (parts.length > 1) for (const part of parts) if (!part.includes('.') && (isAddress || part.length > 2)) term(part)
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
    // Most are, and nothing else has to be looked for in them.
    if (plainWord.test(chunk)) {
      reading.term(chunk)
      continue
    }
    if (number.test(chunk)) readNumber(chunk, reading)
    else readJoined(chunk.replace(apostrophes, ''), 0, reading)
    for (const [dotted] of chunk.matchAll(dottedNumbers)) if (dotted !== chunk) reading.term(dotted)
  }
}

/** Stems of words that were read: finding one takes longer than all else. Begun anew when there are too many. */
const stems = new Map<string, string>()
const maxStems = 50_000

function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  const stem = stemmer(word)
  if (stems.size >= maxStems) stems.clear()
  stems.set(word, stem)
  return stem
}

/** A term as it is indexed: lowercased, an English word reduced to its stem. */
function termOf(word: string): string {
  const lower = word.toLowerCase()
  const stem = /^[a-z]+$/.test(lower) && lower.length <= maxTermLength ? stemOf(lower) : lower
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

function readWords(query: string): string[] {
  const words: string[] = []
  readText(query, { term: (word) => void words.push(word.toLowerCase()), character: () => {} })
  return words
}

function distinctTerms(words: readonly string[]): string[] {
  return [...new Set(words.map(termOf))].slice(0, maxQueryTerms)
}

/** The distinct terms of a text without words of grammar. Single characters count only where nothing stands beside them. At most 64. */
export function tellingTerms(text: string): string[] {
  return distinctTerms(readWords(text).filter((word) => !stopWords.has(word)))
}

/** What a query looks for: its telling terms, or those of grammar where it has no others; none when it holds no word. */
export function queryTerms(query: string): string[] {
  const telling = tellingTerms(query)
  return telling.length > 0 ? telling : distinctTerms(readWords(query))
}
