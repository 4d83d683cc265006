import { describe, expect, it } from 'vitest'
import { countStartable, isExhaustion } from './descriptors.ts'

describe('descriptors', () => {
  it('are kept for requests and the store, and counted for attempts that have not opened theirs', () => {
    expect(countStartable({ limit: 256, open: () => 60 })).toBe(20)
    expect(countStartable({ limit: 256, open: () => 60, starting: 4 })).toBe(16)
    expect(countStartable({ limit: 256, open: () => 220 })).toBe(0)
    expect(countStartable({ limit: 1_048_576, open: () => 60 })).toBe(Number.POSITIVE_INFINITY)
  })

  it('are known of this process, or are no bound', () => {
    expect(countStartable()).toBeGreaterThan(0)
  })

  it('are what a failed start may be about', () => {
    expect(isExhaustion('The worker could not be started: spawn EMFILE')).toBe(true)
    expect(isExhaustion('spawn bwrap ENOENT')).toBe(false)
  })
})
