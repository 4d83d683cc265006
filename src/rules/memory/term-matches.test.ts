import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileTerms, cutSnippet, foldCase, listGrams, listTermGrams, matchTerms, scoreMatch } from './term-matches.ts'

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

const match = (text: string, ...terms: string[]) => matchTerms(text, compileTerms(terms))

describe('matches', () => {
  it('need every term, and start where the first of them is', () => {
    expect(match('One two ONE', 'one', 'two')).toEqual({ at: 0, counts: [2, 1], length: 11 })
    expect(match('One two', 'two', 'three')).toBeUndefined()
    expect(match('it is two', 'two', 'is')?.at).toBe(3)
  })

  it('count parts of words as half', () => {
    expect(match('redeploying, deploy', 'deploy')?.counts).toEqual([1.5])
    expect(match('get_user', 'user')?.counts).toEqual([0.5])
  })

  it('take the blanks of a phrase as any blanks, but not as none', () => {
    expect(match('the\n  tests', 'the tests')?.at).toBe(0)
    expect(match('thetests', 'the tests')).toBeUndefined()
    expect(match('the test the tests', 'the tests')?.at).toBe(9)
  })

  it('score more places higher and longer texts lower', () => {
    const score = (counts: number[], length: number) => scoreMatch({ at: 0, counts, length }, 100)
    expect(score([2, 1], 100)).toBeGreaterThan(score([1, 1], 100))
    expect(score([1, 1], 50)).toBeGreaterThan(score([1, 1], 100))
  })
})

describe('snippets', () => {
  it('are the text itself where it is short', () => {
    expect(cutSnippet('short', 2, 5)).toBe('short')
  })

  it('show the place, with marks where text is left out', () => {
    const text = `${'a'.repeat(100)}NEEDLE${'b'.repeat(100)}`
    expect(cutSnippet(text, 100, 20)).toBe('…aaaaNEEDLEbbbbbbbb…')
    expect(cutSnippet(text, 0, 8)).toBe('aaaaaa…')
    expect(cutSnippet(text, 205, 8)).toBe('…bbbbbb')
  })

  it('are never longer than asked for, and well-formed if the text is', () => {
    const emoji = fc.string({ unit: fc.constantFrom('😀', 'x'), minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(emoji, fc.nat(), fc.integer({ min: 1, max: 60 }), (text, place, most) => {
        const snippet = cutSnippet(text, place % text.length, most)
        expect(snippet.length).toBeLessThanOrEqual(Math.max(most, 3))
        expect(snippet.isWellFormed()).toBe(true)
      }),
    )
  })
})
