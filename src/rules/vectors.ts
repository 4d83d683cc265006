// Vectors that stand for texts: texts are alike whose vectors point the same way.

/** The same direction with length 1, so that a product of two is their cosine; undefined where there is no direction. */
export function normalizeVector(vector: ArrayLike<number>): Float32Array | undefined {
  let square = 0
  for (let at = 0; at < vector.length; at += 1) square += (vector[at] ?? 0) ** 2
  const length = Math.sqrt(square)
  if (!(length > 0) || !Number.isFinite(length)) return undefined
  return Float32Array.from(vector, (value) => value / length)
}

/** The cosine of two vectors of length 1 and of the same dimension. */
export function multiplyVectors(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return sum
}

/** As it is stored: little-endian, 4 bytes for each number. */
export function encodeVector(vector: Float32Array): Uint8Array {
  const bytes = new Uint8Array(vector.length * 4)
  const view = new DataView(bytes.buffer)
  for (const [at, value] of vector.entries()) view.setFloat32(at * 4, value, true)
  return bytes
}

/** Reverses `encodeVector`. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: bytes.byteLength / 4 }, (_, at) => view.getFloat32(at * 4, true))
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
function measureDistances({ words, count }: Signs, asked: Uint32Array): Uint16Array {
  const distances = new Uint16Array(count)
  let at = 0
  for (let vector = 0; vector < count; vector += 1) {
    let distance = 0
    for (const word of asked) {
      distance += countBits((words[at] ?? 0) ^ word)
      at += 1
    }
    distances[vector] = distance
  }
  return distances
}

/** Positions of the `most` vectors, or a few more, that agree in the most signs; in no order. */
export function findAlike(signs: Signs, asked: Uint32Array, most: number): number[] {
  const distances = measureDistances(signs, asked)
  const tally = new Uint32Array(asked.length * 32 + 1)
  for (const distance of distances) tally[distance] = (tally[distance] ?? 0) + 1
  let limit = 0
  let seen = tally[0] ?? 0
  while (seen < most && limit < tally.length - 1) {
    limit += 1
    seen += tally[limit] ?? 0
  }
  const found: number[] = []
  for (const [vector, distance] of distances.entries()) if (distance <= limit) found.push(vector)
  return found
}
