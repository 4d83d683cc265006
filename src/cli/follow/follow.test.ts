import { describe, expect, it } from 'vitest'
import { createTail } from './follow.ts'

describe('the end of a log', () => {
  it('is the text before the final notes', () => {
    const tail = createTail()
    for (const line of ['[provider]', 'the answer', 'in two lines', '', '[done: 1 model call]']) tail.add(line)
    expect(tail.read()).toBe('[provider]\nthe answer\nin two lines')
  })

  it('keeps the newest part of a very long log', () => {
    const tail = createTail()
    for (let index = 0; index < 300; index += 1) tail.add('x'.repeat(10_000))
    tail.add('last')
    expect(tail.read().endsWith('\nlast')).toBe(true)
    expect(tail.read().length).toBeLessThan(2_200_000)
  })
})
