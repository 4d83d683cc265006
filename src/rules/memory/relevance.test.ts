import { describe, expect, it } from 'vitest'
import { addLikeness, addSurroundings, type Placed } from './relevance.ts'

const order = (found: readonly Placed[]) =>
  found.toSorted((one, other) => other.score - one.score).map(({ number }) => number)

describe('likeness', () => {
  const texts = new Map([
    [1, 'the zebra herd crosses the river'],
    [2, 'a zebra herd at the river'],
    [3, 'a poster of a zebra'],
    [4, 'the herd drinks of the river with a zebra'],
  ])
  const found = [4, 3, 2, 1].map((score, at) => ({ number: at + 1, score }))

  it('brings what is like the best nearer to it, and keeps scores from 0 to 1', () => {
    const alike = addLikeness(found, texts, new Map([['zebra', 0.1]]))
    expect(order(alike)).toEqual([1, 2, 4, 3])
    expect(Math.max(...alike.map(({ score }) => score))).toBe(1)
    expect(Math.min(...alike.map(({ score }) => score))).toBeGreaterThan(0)
  })

  it('changes nothing of texts that are not known, or of none', () => {
    expect(addLikeness([], new Map(), new Map())).toEqual([])
    expect(order(addLikeness(found, new Map(), new Map()))).toEqual([1, 2, 3, 4])
  })
})

describe('surroundings', () => {
  it('give a part of their scores to what was written right before and after', () => {
    const found: Placed[] = [
      { number: 1, score: 0, origin: 's' },
      { number: 2, score: 1, origin: 's' },
      { number: 3, score: 0.05, origin: 's' },
      { number: 4, score: 0, origin: 's' },
    ]
    const pairs = [
      [1, 2],
      [2, 3],
    ] as const
    expect(order(addSurroundings(found, pairs))).toEqual([2, 3, 1, 4])
  })

  it('prefer the session of which more was found', () => {
    const found: Placed[] = [
      { number: 1, score: 0.8, origin: 'one' },
      { number: 2, score: 0.78, origin: 'other' },
      { number: 3, score: 0.75, origin: 'other' },
      { number: 4, score: 0.8 },
    ]
    expect(order(addSurroundings(found, [])).slice(0, 2)).toEqual([2, 3])
  })

  it('are none of a memory alone, in a session or without one', () => {
    const found: Placed[] = [
      { number: 1, score: 1, origin: 'alone' },
      { number: 2, score: 1 },
    ]
    const [one, other] = addSurroundings(found, [])
    expect(one?.score).toBe(other?.score)
    expect(addSurroundings([], [])).toEqual([])
  })
})
