// Made-up memories, and the questions people ask of them: the same ones in every run.

/** A text, and the distinct words in it that are no words of grammar. */
export type MadeText = { text: string; telling: string[] }

const grammar = 'the of and to in a is that it was for on are as with be at by this from or have an not'.split(' ')
const vocabulary = 40_000
/** Words of a language follow Zipf's law as Mandelbrot corrected it: by their rank. */
const flattened = 2.7
const exponent = 1.05
const consonants = 'bdfgklmnprtvz'
const vowels = 'aiou'

/** Numbers in [0, 1) that only look random: a linear congruence (Park and Miller). */
export function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Syllables; no two ranks make the same word. */
function makeWord(rank: number): string {
  let word = ''
  for (let left = rank; word === '' || left > 0; left = Math.floor(left / (consonants.length * vowels.length))) {
    const syllable = left % (consonants.length * vowels.length)
    word += `${consonants[syllable % consonants.length]}${vowels[Math.floor(syllable / consonants.length)]}`
  }
  return `${word}n`
}

function sumWeights(): Float64Array {
  const sums = new Float64Array(vocabulary)
  let sum = 0
  for (let rank = 0; rank < vocabulary; rank += 1) {
    sum += 1 / (rank + 1 + flattened) ** exponent
    sums[rank] = sum
  }
  return sums
}

/** The first place whose sum is above the number. */
function findPlace(sums: Float64Array, wanted: number): number {
  let low = 0
  let high = sums.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) > wanted) high = middle
    else low = middle + 1
  }
  return low
}

/** Texts of 15 to 44 words, four in ten of them words of grammar. */
export function makeTexts(count: number, random: () => number): MadeText[] {
  const sums = sumWeights()
  const words = Array.from({ length: vocabulary }, (_, rank) => makeWord(rank))
  const total = sums.at(-1) ?? 0
  const pickWord = () => words[findPlace(sums, random() * total)] ?? ''
  const pickGrammar = () => grammar[Math.floor(random() * grammar.length)] ?? ''
  return Array.from({ length: count }, () => {
    const telling = new Set<string>()
    const parts = Array.from({ length: 15 + Math.floor(random() * 30) }, () => {
      if (random() < 0.4) return pickGrammar()
      const word = pickWord()
      telling.add(word)
      return word
    })
    return { text: `${parts.join(' ')}.`, telling: [...telling] }
  })
}

/** As somebody asks who half remembers one of them: two to four of its telling words, frequent and rare ones alike. */
export function makeQuestions(texts: readonly MadeText[], count: number, random: () => number): string[] {
  return Array.from({ length: count }, () => {
    const left = [...(texts[Math.floor(random() * texts.length)]?.telling ?? [])]
    const wanted = 2 + Math.floor(random() * 3)
    const chosen = Array.from({ length: wanted }, () => left.splice(Math.floor(random() * left.length), 1))
    return chosen.flat().join(' ')
  })
}

/** The hardest ones: three of the thirty most frequent words each. */
export function makeFrequentQuestions(count: number, random: () => number): string[] {
  const pick = () => makeWord(Math.floor(random() * 30))
  return Array.from({ length: count }, () => [pick(), pick(), pick()].join(' '))
}
