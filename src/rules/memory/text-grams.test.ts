import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldCase, listGrams, listTermGrams } from './text-grams.ts'

describe('pieces of texts', () => {
  it('are in every text that contains the term', () => {
    const texts = fc.string({ unit: 'binary', maxLength: 20 })
    fc.assert(
      fc.property(texts, texts, texts, (before, term, after) => {
        const grams = new Set(listGrams([`${before}${term}${after}`]))
        expect(listTermGrams(term.trim(), 100).filter((gram) => !grams.has(gram))).toEqual([])
      }),
    )
  })

  it('tell texts apart', () => {
    const grams = new Set(listGrams(['the deploy failed']))
    const isIn = (term: string) => listTermGrams(term, 100).every((gram) => grams.has(gram))
    expect(['deploy', 'DEPLOY', 'ploy fail', 'th', 'e'].map(isIn)).toEqual([true, true, true, true, true])
    expect(['deploys', 'xy', '配', 'pf'].map(isIn)).toEqual([false, false, false, false])
  })

  it('are few for a long text, and as many as asked for of a term', () => {
    expect(listGrams(['a'.repeat(100_000)])).toHaveLength(2)
    expect(listTermGrams('abcdefgh', 3)).toHaveLength(3)
    expect(listTermGrams('a', 3)).toEqual([])
    expect(listTermGrams(' ', 3)).toEqual([])
  })
})

describe('folding', () => {
  it('keeps the length', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => foldCase(text).length === text.length))
    expect(foldCase('İStanbul ΟΔΟΣ')).toBe('istanbul οδοσ')
  })
})
