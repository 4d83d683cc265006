// Short pieces of text as small numbers: an index of them finds the texts that may contain a term, in any script and
// within words. Different pieces may have the same number, so what is found is compared with the term itself.

/** Numbers are from 0 up to here: a text of any length has at most this many. */
const gramCount = 65_536

/** Folds case; the folded text has the same length, so that positions in one hold in the other. */
export function foldCase(text: string): string {
  // The one letter that becomes longer, and the one whose form depends on its place (Unicode SpecialCasing).
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

/** Pieces that a text has if it contains the term, at most `most`; none for a single ASCII letter. */
export function listTermGrams(term: string, most: number): number[] {
  const words = foldCase(term).split(/\s+/).filter(Boolean)
  return [...new Set(words.flatMap(listWordGrams))].slice(0, most)
}
