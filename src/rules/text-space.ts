// Latent semantic analysis (Deerwester and others, 1990): vectors of texts from which words occur together in the texts
// themselves, without a model that was trained elsewhere. Found by subspace iteration (Halko, Martinsson and Tropp, 2011).
import { normalizeVector } from './vectors.ts'

/** The terms of one text; a term may occur several times. */
export type Terms = readonly string[]

export type TextSpace = {
  dimension: number
  /** Its place in the basis and its weight, by term. */
  terms: ReadonlyMap<string, { at: number; weight: number }>
  /** `dimension` numbers for each term, one after the other. */
  basis: Float32Array
}

type LearnOptions = {
  /** A number in [0, 1). */
  random(): number
  /** Called between short pieces of work, so that others get their turn. */
  pause(): Promise<void>
  dimension?: number
}

/** More find little more and cost more; the decision on vectors in docs/adr has the figures. */
const usualDimension = 96
const passes = 4
const textsAtOnce = 100
/** A term of a single text says nothing of which terms go together. */
const leastTexts = 2

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
  const kept = [...counts].filter(([, count]) => count >= leastTexts)
  const weigh = (count: number) => Math.log(1 + (texts.length - count + 0.5) / (count + 0.5))
  return new Map(kept.map(([term, count], at) => [term, { at, weight: weigh(count) }]))
}

type Matrix = { values: Float64Array; dimension: number }

/** The place of a text whose terms are these. */
function projectRow(entries: readonly Entry[], basis: { values: ArrayLike<number>; dimension: number }): Float64Array {
  const { values, dimension } = basis
  const place = new Float64Array(dimension)
  for (const { at, weight } of entries) {
    for (let column = 0; column < dimension; column += 1) {
      place[column] = (place[column] ?? 0) + weight * (values[at * dimension + column] ?? 0)
    }
  }
  return place
}

/** Adds the text's place to the rows of its terms. */
function addRow(entries: readonly Entry[], place: Float64Array, { values, dimension }: Matrix): void {
  for (const { at, weight } of entries) {
    const start = at * dimension
    for (let column = 0; column < dimension; column += 1) {
      values[start + column] = (values[start + column] ?? 0) + weight * (place[column] ?? 0)
    }
  }
}

function multiplyColumns({ values, dimension }: Matrix, one: number, other: number): number {
  let sum = 0
  for (let at = 0; at < values.length; at += dimension) sum += (values[at + one] ?? 0) * (values[at + other] ?? 0)
  return sum
}

/** Makes the column perpendicular to those before it, and of length 1. */
function straightenColumn(matrix: Matrix, column: number): void {
  const { values, dimension } = matrix
  for (let before = 0; before < column; before += 1) {
    const share = multiplyColumns(matrix, column, before)
    for (let at = 0; at < values.length; at += dimension) {
      values[at + column] = (values[at + column] ?? 0) - share * (values[at + before] ?? 0)
    }
  }
  const length = Math.sqrt(multiplyColumns(matrix, column, column))
  // Fewer directions than columns: what is left of this one is rounding.
  const scale = length > 1e-9 ? 1 / length : 0
  for (let at = 0; at < values.length; at += dimension) values[at + column] = (values[at + column] ?? 0) * scale
}

async function improve(rows: readonly Entry[][], matrix: Matrix, pause: LearnOptions['pause']): Promise<Matrix> {
  const next = { ...matrix, values: new Float64Array(matrix.values.length) }
  for (const [at, entries] of rows.entries()) {
    addRow(entries, projectRow(entries, matrix), next)
    if (at % textsAtOnce === textsAtOnce - 1) await pause()
  }
  for (let column = 0; column < matrix.dimension; column += 1) {
    straightenColumn(next, column)
    await pause()
  }
  return next
}

/** The space of these texts; undefined when too few of them have terms in common. */
export async function learnSpace(texts: readonly Terms[], options: LearnOptions): Promise<TextSpace | undefined> {
  const { random, pause, dimension = usualDimension } = options
  const terms = chooseTerms(texts)
  if (terms.size < dimension) return undefined
  const rows = texts.map((text) => weighTerms(text, terms))
  const values = Float64Array.from({ length: terms.size * dimension }, () => random() - 0.5)
  let matrix: Matrix = { values, dimension }
  for (let pass = 0; pass < passes; pass += 1) matrix = await improve(rows, matrix, pause)
  return { dimension, terms, basis: Float32Array.from(matrix.values) }
}

/** The vector of a text, of length 1; undefined when the space knows none of its terms. */
export function placeText({ terms, basis, dimension }: TextSpace, text: Terms): Float32Array | undefined {
  return normalizeVector(projectRow(weighTerms(text, terms), { values: basis, dimension }))
}
