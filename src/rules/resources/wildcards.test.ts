import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSubjectCheck } from './wildcards.ts'

describe('allowed subjects', () => {
  it.each([
    ['repo:acme/*', 'repo:acme/site:ref:refs/heads/main', true],
    ['repo:acme/*', 'xrepo:acme/site', false],
    ['repo:acme/site', 'repo:acme/site2', false],
    ['user-?', 'user-1', true],
    ['user-?', 'user-12', false],
    ['user-?', 'user-', false],
    ['user-?', 'user-😀', true],
    ['*', '', true],
    ['*', 'anybody', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['a.c', 'abc', false],
    ['[ab]', 'a', false],
    ['(a|b)+', 'ab', false],
    ['admin', 'ADMIN', false],
    ['é', 'e\u0301', false],
  ])('%s and %s: %s', (pattern, subject, expected) => {
    expect(createSubjectCheck([pattern])(subject)).toBe(expected)
  })

  it('allow nobody when the list is empty', () => {
    expect(createSubjectCheck([])('anybody')).toBe(false)
  })

  it('match when any one pattern matches', () => {
    const isAllowed = createSubjectCheck(['one', 'two-*'])
    expect(['one', 'two-2', 'three'].map(isAllowed)).toEqual([true, true, false])
  })

  it('match exactly as the equivalent anchored regular expression does', () => {
    const piece = fc.constantFrom('a', 'b', '*', '?')
    const text = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 }).map((all) => all.join(''))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), text, (pieces, subject) => {
        const source = pieces.join('').replaceAll('*', '.*').replaceAll('?', '.')
        expect(createSubjectCheck([pieces.join('')])(subject)).toBe(new RegExp(`^${source}$`).test(subject))
      }),
    )
  })

  it('match in few steps a pattern that would hang a regular expression', () => {
    expect(createSubjectCheck([`${'*a'.repeat(60)}b`])('a'.repeat(1000))).toBe(false)
  })
})
