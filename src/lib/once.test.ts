import { describe, expect, it } from 'vitest'
import { once } from './once.ts'

describe('work that is done once', () => {
  it('is shared by all who ask for it, until it is forgotten', async () => {
    let count = 0
    const run = once(async () => ++count)
    expect(await Promise.all([run(), run()])).toEqual([1, 1])
    expect(await run()).toBe(1)
    run.forget()
    expect(await run()).toBe(2)
  })

  it('is done again after a failure', async () => {
    let count = 0
    const run = once(async () => {
      count += 1
      if (count === 1) throw new Error('the first fails')
      return count
    })
    await expect(run()).rejects.toThrow('the first fails')
    expect(await run()).toBe(2)
  })
})
