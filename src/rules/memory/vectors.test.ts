import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareStored,
  countWords,
  encodeVector,
  findAlike,
  normalizeVector,
  readSigns,
  readStoredSigns,
} from './vectors.ts'

describe('vectors', () => {
  it('have length 1, or are none', () => {
    expect(normalizeVector([3, 4])).toEqual(Float32Array.from([0.6, 0.8]))
    expect(normalizeVector([0, 0])).toBeUndefined()
    expect(normalizeVector([Number.NaN, 1])).toBeUndefined()
    expect(normalizeVector([1e200, 1])).toBeUndefined()
    expect(normalizeVector([])).toBeUndefined()
  })

  it('are stored with a byte for each number, and still point the same way', () => {
    const draw = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 64, maxLength: 64 })
    fc.assert(
      fc.property(draw, draw, (first, second) => {
        const [one, other] = [normalizeVector(first), normalizeVector(second)]
        fc.pre(one !== undefined && other !== undefined)
        const exact = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
        expect(Math.abs(compareStored(one, encodeVector(other)) - exact)).toBeLessThan(0.03)
      }),
    )
  })

  it('of another dimension, and without a direction, are like none', () => {
    expect(compareStored(Float32Array.from([1]), encodeVector(Float32Array.from([1, 0])))).toBe(0)
    expect(compareStored(Float32Array.from([1, 0]), encodeVector(Float32Array.from([0, 0])))).toBe(0)
    expect(compareStored(Float32Array.from([0, 1]), new Uint8Array([9, 0, 127]).subarray(1))).toBe(1)
  })

  it('keep their signs in the store', () => {
    const vector = [0.5, -0.1, 0.9, -0.7]
    expect(readStoredSigns(encodeVector(Float32Array.from(vector)))).toEqual(readSigns(vector))
  })
})

describe('signs', () => {
  const draw = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 70, maxLength: 70 })

  it('find the vectors that agree in the most of them', () => {
    fc.assert(
      fc.property(fc.array(draw, { maxLength: 20 }), draw, fc.nat(25), (vectors, asked, most) => {
        const words = new Uint32Array(vectors.length * countWords(70))
        for (const [at, vector] of vectors.entries()) words.set(readSigns(vector), at * countWords(70))
        const differences = vectors.map(
          (vector) => vector.filter((value, at) => value > 0 !== (asked[at] ?? 0) > 0).length,
        )
        const found = findAlike({ words, count: vectors.length }, readSigns(asked), most)
        const others = differences.filter((_difference, at) => !found.includes(at))
        const farthest = Math.max(-1, ...found.map((at) => differences[at] ?? 0))
        expect(found.length).toBeGreaterThanOrEqual(Math.min(most, vectors.length))
        expect(others.every((difference) => difference > farthest)).toBe(true)
      }),
    )
  })

  it('find a vector itself first', () => {
    const vectors = [
      [1, -1, 1],
      [-1, 1, -1],
      [1, 1, 1],
    ]
    const words = Uint32Array.from(vectors.flatMap((vector) => [...readSigns(vector)]))
    expect(findAlike({ words, count: 3 }, readSigns([-1, 1, -1]), 1)).toEqual([1])
  })
})
