// Texts that patterns take long for: runs of one character, between a beginning that many patterns wait for and an end that
// makes them fail.

const runs = [
  ' ',
  '\t',
  '\n',
  '/',
  '\\',
  '"',
  "'",
  '`',
  '[',
  ']',
  '{',
  '(',
  '<',
  '-',
  '.',
  '0',
  'a',
  '=',
  ',',
  '\u0301',
]
const mixed = [
  '\\"',
  '"\\',
  ' \n',
  '- ',
  '../',
  '[[',
  '](',
  '{"',
  '<!',
  '<a',
  ';',
  '@',
  '&#',
  '-----BEGIN ',
  'a.',
  'a=',
  '0.',
  '| ',
  '> ',
]
const beginnings = ['', 'authorization:', 'https://a.example/', 'password="', '```', '# ', 'run ', '{"']

export const sizes = [10_000, 50_000, 200_000]

export type LongText = { name: string; text: string }

/** Each run alone and behind each beginning, `size` characters long. */
export function* makeTexts(size: number): Generator<LongText> {
  for (const run of [...runs, ...mixed]) {
    const body = run.repeat(Math.ceil(size / run.length)).slice(0, size)
    for (const beginning of beginnings)
      yield { name: `${JSON.stringify(beginning)} + ${JSON.stringify(run)} x ${size}`, text: `${beginning}${body}x!` }
  }
}

/** The next whole number of a sequence that the seed decides (a linear congruential generator). */
export function createSequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  }
}
