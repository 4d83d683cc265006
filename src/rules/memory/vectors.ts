// Vectors that stand for texts: texts are alike whose vectors point the same way.

/** The same direction with length 1, so that a product of two is their cosine; undefined where there is no direction. */
export function normalizeVector(vector: ArrayLike<number>): Float32Array | undefined {
  let square = 0
  for (let at = 0; at < vector.length; at += 1) square += (vector[at] ?? 0) ** 2
  const length = Math.sqrt(square)
  if (!(length > 0) || !Number.isFinite(length)) return undefined
  return Float32Array.from(vector, (value) => value / length)
}

/** As it is stored: its direction, in a signed byte for each number. */
export function encodeVector(vector: Float32Array): Uint8Array {
  const maxAbs = vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) || 1
  return new Uint8Array(Int8Array.from(vector, (value) => Math.round((value / maxAbs) * 127)).buffer)
}

function readBytes(stored: Uint8Array): Int8Array {
  return new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength)
}

/** The cosine of a vector of length 1 and a stored one; 0 when they have not as many numbers. */
export function compareStored(vector: Float32Array, stored: Uint8Array): number {
  if (vector.length !== stored.length) return 0
  const bytes = readBytes(stored)
  let product = 0
  let square = 0
  for (let at = 0; at < bytes.length; at += 1) {
    const value = bytes[at] ?? 0
    product += (vector[at] ?? 0) * value
    square += value * value
  }
  return square === 0 ? 0 : product / Math.sqrt(square)
}

/** The signs of a stored vector. */
export function readStoredSigns(stored: Uint8Array): Uint32Array {
  return readSigns(readBytes(stored))
}

/** How many 32-bit words the signs of a vector need. */
export function countWords(dimension: number): number {
  return Math.ceil(dimension / 32)
}

/** The signs of the vector as bits: vectors that are alike agree in most of them. */
export function readSigns(vector: ArrayLike<number>): Uint32Array {
  const words = new Uint32Array(countWords(vector.length))
  for (let at = 0; at < vector.length; at += 1) {
    if ((vector[at] ?? 0) > 0) words[at >>> 5] = (words[at >>> 5] ?? 0) | (1 << (at & 31))
  }
  return words
}

/** Number of bits that are set (Warren, Hacker's Delight, 5-1). */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

type Signs = {
  /** Those of one vector after the other. */
  words: Uint32Array
  count: number
}

/** In how many signs each vector differs from the one asked for. */
function measureDistances({ words, count }: Signs, query: Uint32Array): Uint16Array {
  const distances = new Uint16Array(count)
  let at = 0
  for (let vector = 0; vector < count; vector += 1) {
    let distance = 0
    for (let word = 0; word < query.length; word += 1) {
      distance += countBits((words[at] ?? 0) ^ (query[word] ?? 0))
      at += 1
    }
    distances[vector] = distance
  }
  return distances
}

/** The distance within which `max` are, or all. */
function chooseLimit(distances: Uint16Array, { max, maxDistance }: { max: number; maxDistance: number }): number {
  const tally = new Uint32Array(maxDistance + 1)
  for (let at = 0; at < distances.length; at += 1) {
    const distance = distances[at] ?? 0
    tally[distance] = (tally[distance] ?? 0) + 1
  }
  let seen = 0
  for (let limit = 0; limit < maxDistance; limit += 1) {
    seen += tally[limit] ?? 0
    if (seen >= max) return limit
  }
  return maxDistance
}

/** Positions of the `max` vectors, or a few more, that agree in the most signs; in no order. */
export function findAlike(signs: Signs, query: Uint32Array, max: number): number[] {
  const distances = measureDistances(signs, query)
  const limit = chooseLimit(distances, { max, maxDistance: query.length * 32 })
  const found: number[] = []
  for (let vector = 0; vector < distances.length; vector += 1) {
    if ((distances[vector] ?? 0) <= limit) found.push(vector)
  }
  return found
}

/** Only vectors of the same model with as many numbers can be compared. */
export function nameModel(model: string, dimension: number): string {
  return `${model}#${dimension}`
}
