import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeap } from './heap.ts'

describe('the heap', () => {
  it('gives back whatever was put in, smallest first', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (values) => {
        const heap = createHeap<number>((a, b) => a - b)
        for (const value of values) heap.push(value)
        expect(heap.peek()).toBe(values.length === 0 ? undefined : Math.min(...values))
        expect(values.map(() => heap.pop())).toEqual(values.toSorted((a, b) => a - b))
        expect(heap.pop()).toBeUndefined()
      }),
    )
  })
})
