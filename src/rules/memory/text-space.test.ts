import { describe, expect, it } from 'vitest'
import { decodeSpace, embedText, encodeSpace, learnSpace } from './text-space.ts'

/** Numbers that are the same in every run (Park and Miller, 1988). */
function createRandom() {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** The cosine of two vectors of length 1. */
function multiplyVectors(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0)
}

const texts = [
  'car engine road wheel',
  'car road driver wheel',
  'automobile engine road wheel',
  'automobile driver wheel engine',
  'apple pear tree fruit',
  'apple fruit garden tree',
  'pear garden fruit tree',
].map((text) => text.split(' '))

const learn = (given = texts, dimension = 2) =>
  learnSpace(given, { random: createRandom(), pause: async () => {}, dimension })
const compare = async (one: string, other: string) => {
  const space = await learn()
  const [first, second] = [one, other].map((text) => space && embedText(space, text.split(' ')))
  return first && second ? multiplyVectors(first, second) : undefined
}

describe('a space of texts', () => {
  it('has texts near each other whose words go together, even without a word in common', async () => {
    expect(await compare('car', 'automobile')).toBeGreaterThan(0.9)
    expect(await compare('car', 'fruit')).toBeLessThan(0.3)
    expect(await compare('apple tree', 'garden')).toBeGreaterThan(0.9)
  })

  it('gives vectors of length 1, the same for the same texts', async () => {
    const [one, other] = [await learn(), await learn()]
    const place = one && embedText(one, ['car', 'unheard', 'car'])
    expect(place && multiplyVectors(place, place)).toBeCloseTo(1, 5)
    expect(one?.basis).toEqual(other?.basis)
  })

  it('has no place for a text without a known word, and is none for texts without common words', async () => {
    const space = await learn()
    expect(space && embedText(space, ['unheard'])).toBeUndefined()
    expect(space && embedText(space, [])).toBeUndefined()
    expect(await learn([['a', 'b'], ['c']])).toBeUndefined()
    expect(await learn([])).toBeUndefined()
  })

  it('comes back from the store as it was', async () => {
    const space = await learn([...texts, ['naïve', '東京'], ['naïve', '東京']])
    expect(space && decodeSpace(encodeSpace(space))).toEqual(space)
  })

  it('lets others have their turn, and can have more directions than the texts', async () => {
    let pauses = 0
    const many = Array.from({ length: 500 }, (_, at) => texts[at % texts.length] ?? [])
    const pause = async () => {
      pauses += 1
    }
    const space = await learnSpace(many, { random: createRandom(), pause, dimension: 10 })
    expect(pauses).toBeGreaterThan(20)
    expect(space?.basis.every(Number.isFinite)).toBe(true)
  })
})
