// Latent semantic analysis (Deerwester and others, 1990): vectors of texts from which words occur together in the texts
// themselves, without a model that was trained elsewhere. Found by subspace iteration (Halko, Martinsson and Tropp, 2011).
import { normalizeVector } from './vectors.ts'

/** The terms of one text; a term may occur several times. */
export type Terms = readonly string[]

export type TextSpace = {
  dimension: number
  /** Its row in the basis and its weight, by term. */
  terms: ReadonlyMap<string, { at: number; weight: number }>
  /** `dimension` numbers for each term, one after the other. */
  basis: Float32Array
}

type LearnOptions = {
  /** A number in [0, 1). */
  random(): number
  /** Called between short pieces of work, so that others get their turn. */
  pause(): Promise<void>
  /** Directions; more find little more and cost more: the decision on vectors in docs/adr has the figures. */
  dimension: number
}

const passes = 4
const textsAtOnce = 100
const rowsAtOnce = 500
/** A term of a single text says nothing of which terms go together. */
const minTextsWithTerm = 2
/** The most frequent ones: a space of them takes 8 MB. */
const maxTerms = 20_000

type Entry = { at: number; weight: number }

function countTerms(terms: Terms): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}

/** Frequencies damped, rare terms heavier, and every text of length 1. */
function weighTerms(terms: Terms, known: TextSpace['terms']): Entry[] {
  const entries: Entry[] = []
  let square = 0
  for (const [term, count] of countTerms(terms)) {
    const found = known.get(term)
    if (found === undefined) continue
    const weight = (1 + Math.log(count)) * found.weight
    entries.push({ at: found.at, weight })
    square += weight ** 2
  }
  const length = Math.sqrt(square)
  return entries.map(({ at, weight }) => ({ at, weight: weight / length }))
}

function chooseTerms(texts: readonly Terms[]): TextSpace['terms'] {
  const counts = new Map<string, number>()
  for (const terms of texts) for (const term of new Set(terms)) counts.set(term, (counts.get(term) ?? 0) + 1)
  const shared = [...counts].filter(([, count]) => count >= minTextsWithTerm)
  const frequent = shared.sort(([, one], [, other]) => other - one).slice(0, maxTerms)
  const weigh = (count: number) => Math.log(1 + (texts.length - count + 0.5) / (count + 0.5))
  return new Map(frequent.map(([term, count], at) => [term, { at, weight: weigh(count) }]))
}

type Matrix = { values: Float64Array; dimension: number }

/** The vector of a text whose terms are these. */
function projectRow(entries: readonly Entry[], basis: { values: ArrayLike<number>; dimension: number }): Float64Array {
  const { values, dimension } = basis
  const vector = new Float64Array(dimension)
  for (const { at, weight } of entries) {
    for (let column = 0; column < dimension; column += 1) {
      vector[column] = (vector[column] ?? 0) + weight * (values[at * dimension + column] ?? 0)
    }
  }
  return vector
}

/** Adds the vector of the text to the rows of its terms. */
function addRow(entries: readonly Entry[], vector: Float64Array, { values, dimension }: Matrix): void {
  for (const { at, weight } of entries) {
    const start = at * dimension
    for (let column = 0; column < dimension; column += 1) {
      values[start + column] = (values[start + column] ?? 0) + weight * (vector[column] ?? 0)
    }
  }
}

/** A position in an array of numbers. */
type From = { values: Float64Array; at: number }

/** The product of the next `count` numbers of both. */
function multiplyRuns(one: From, other: From, count: number): number {
  let sum = 0
  for (let at = 0; at < count; at += 1) sum += (one.values[one.at + at] ?? 0) * (other.values[other.at + at] ?? 0)
  return sum
}

/** Adds the products of all pairs of numbers of the row, below the diagonal and on it. */
function addProducts(products: Float64Array, row: From, dimension: number): void {
  for (let one = 0; one < dimension; one += 1) {
    const value = row.values[row.at + one] ?? 0
    const start = one * dimension
    for (let other = 0; other <= one; other += 1) {
      products[start + other] = (products[start + other] ?? 0) + value * (row.values[row.at + other] ?? 0)
    }
  }
}

/** Calls back with the start of each row. */
async function forEachRow({ values, dimension }: Matrix, pause: LearnOptions['pause'], act: (at: number) => void) {
  for (let at = 0, row = 1; at < values.length; at += dimension, row += 1) {
    act(at)
    if (row % rowsAtOnce === 0) await pause()
  }
}

/** The lower triangle whose product with itself is that of the columns (Cholesky); 0 on the diagonal where one adds no direction. */
function factorProducts(products: Float64Array, dimension: number): Float64Array {
  const values = new Float64Array(dimension * dimension)
  for (let row = 0; row < dimension; row += 1) {
    const start = row * dimension
    for (let column = 0; column < row; column += 1) {
      const known = multiplyRuns({ values, at: start }, { values, at: column * dimension }, column)
      values[start + column] = divide((products[start + column] ?? 0) - known, values[column * dimension + column] ?? 0)
    }
    const whole = products[start + row] ?? 0
    const rest = whole - multiplyRuns({ values, at: start }, { values, at: start }, row)
    // What is left of a column that depends on those before it is rounding.
    values[start + row] = rest > whole * 1e-10 ? Math.sqrt(rest) : 0
  }
  return values
}

function divide(value: number, by: number): number {
  return by > 0 ? value / by : 0
}

/** Makes the columns perpendicular to each other and of length 1 (Cholesky QR: row by row, as memory has them). */
async function straighten(matrix: Matrix, pause: LearnOptions['pause']): Promise<void> {
  const { values, dimension } = matrix
  const products = new Float64Array(dimension * dimension)
  await forEachRow(matrix, pause, (at) => addProducts(products, { values, at }, dimension))
  const lower = factorProducts(products, dimension)
  await forEachRow(matrix, pause, (at) => {
    for (let column = 0; column < dimension; column += 1) {
      const start = column * dimension
      const known = multiplyRuns({ values, at }, { values: lower, at: start }, column)
      values[at + column] = divide((values[at + column] ?? 0) - known, lower[start + column] ?? 0)
    }
  })
}

async function improve(rows: readonly Entry[][], matrix: Matrix, pause: LearnOptions['pause']): Promise<Matrix> {
  const next = { ...matrix, values: new Float64Array(matrix.values.length) }
  for (const [at, entries] of rows.entries()) {
    addRow(entries, projectRow(entries, matrix), next)
    if (at % textsAtOnce === textsAtOnce - 1) await pause()
  }
  await straighten(next, pause)
  return next
}

/** The space of these texts; undefined when too few of them have terms in common. */
export async function learnSpace(texts: readonly Terms[], options: LearnOptions): Promise<TextSpace | undefined> {
  const { random, pause, dimension } = options
  const terms = chooseTerms(texts)
  if (terms.size < dimension) return undefined
  const rows: Entry[][] = []
  for (const [at, text] of texts.entries()) {
    rows.push(weighTerms(text, terms))
    if (at % textsAtOnce === textsAtOnce - 1) await pause()
  }
  const values = Float64Array.from({ length: terms.size * dimension }, () => random() - 0.5)
  let matrix: Matrix = { values, dimension }
  for (let pass = 0; pass < passes; pass += 1) matrix = await improve(rows, matrix, pause)
  return { dimension, terms, basis: Float32Array.from(matrix.values) }
}

type Header = { dimension: number; terms: [term: string, weight: number][] }

const headerLength = 4

/** As it is stored: the length of a header, the header as JSON, and the basis in the order of bytes that all processors here have. */
export function encodeSpace({ dimension, terms, basis }: TextSpace): Uint8Array {
  const listed: Header = { dimension, terms: [...terms].map(([term, { weight }]) => [term, weight]) }
  const header = new TextEncoder().encode(JSON.stringify(listed))
  const bytes = new Uint8Array(headerLength + header.length + basis.byteLength)
  new DataView(bytes.buffer).setUint32(0, header.length)
  bytes.set(header, headerLength)
  bytes.set(new Uint8Array(basis.buffer, basis.byteOffset, basis.byteLength), headerLength + header.length)
  return bytes
}

/** Reverses `encodeSpace`. */
export function decodeSpace(bytes: Uint8Array): TextSpace {
  const end = headerLength + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  const { dimension, terms } = JSON.parse(new TextDecoder().decode(bytes.subarray(headerLength, end))) as Header
  const entries = terms.map(([term, weight], at): [string, Entry] => [term, { at, weight }])
  return { dimension, terms: new Map(entries), basis: new Float32Array(Uint8Array.from(bytes.subarray(end)).buffer) }
}

/** The vector of a text, of length 1; undefined when the space knows none of its terms. */
export function embedText({ terms, basis, dimension }: TextSpace, text: Terms): Float32Array | undefined {
  return normalizeVector(projectRow(weighTerms(text, terms), { values: basis, dimension }))
}
