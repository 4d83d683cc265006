import { describe, expect, it } from 'vitest'
import { trimBoth, trimTrailing } from './trim.ts'

describe('trimming', () => {
  it('takes the characters off the end', () => {
    expect(trimTrailing('https://a.example//', '/')).toBe('https://a.example')
    expect(trimTrailing('a-.b.-', '-.')).toBe('a-.b')
    expect(trimTrailing('///', '/')).toBe('')
    expect(trimTrailing('', '/')).toBe('')
  })

  it('takes the characters off both ends', () => {
    expect(trimBoth('--a-b--', '-')).toBe('a-b')
    expect(trimBoth('--', '-')).toBe('')
    expect(trimBoth('a', '-')).toBe('a')
  })
})
