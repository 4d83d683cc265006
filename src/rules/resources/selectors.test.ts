import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSvcError, messageOf } from '../../errors.ts'
import { createSubjectCheck, matchesLabels, parseLabelSelector } from './selectors.ts'

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

function faultOf(selector: string): string {
  try {
    parseLabelSelector(selector)
    return 'none'
  } catch (error) {
    return isSvcError(error, 'InvalidRequest') ? messageOf(error) : `not an InvalidRequest: ${messageOf(error)}`
  }
}

describe('parseLabelSelector', () => {
  it.each([
    ['', []],
    ['  ', []],
    ['a=b', [{ operator: 'in', key: 'a', values: ['b'] }]],
    ['a==b', [{ operator: 'in', key: 'a', values: ['b'] }]],
    ['a!=b', [{ operator: 'notin', key: 'a', values: ['b'] }]],
    ['a=', [{ operator: 'in', key: 'a', values: [''] }]],
    ['a in (x,y,x)', [{ operator: 'in', key: 'a', values: ['x', 'y'] }]],
    ['a in ()', [{ operator: 'in', key: 'a', values: [''] }]],
    ['a notin(x)', [{ operator: 'notin', key: 'a', values: ['x'] }]],
    ['a', [{ operator: 'exists', key: 'a' }]],
    ['!a', [{ operator: 'absent', key: 'a' }]],
    ['a>5', [{ operator: 'above', key: 'a', bound: 5 }]],
    ['a<-5', [{ operator: 'below', key: 'a', bound: -5 }]],
    ['in in (in, notin)', [{ operator: 'in', key: 'in', values: ['in', 'notin'] }]],
    ['a=in', [{ operator: 'in', key: 'a', values: ['in'] }]],
    [
      ' example.com/a = b ,\tc',
      [
        { operator: 'in', key: 'example.com/a', values: ['b'] },
        { operator: 'exists', key: 'c' },
      ],
    ],
  ])('reads %j', (selector, requirements) => {
    expect(parseLabelSelector(selector)).toEqual(requirements)
  })

  it.each([
    ['=b', 'found "=" at position 1, expected a label key'],
    ['a,', 'found the end, expected a label key'],
    ['a b', 'found "b" at position 3, expected "=", "!="'],
    ['a=b=c', 'found "=" at position 4, expected "," or the end'],
    ['a=b c', 'found "c" at position 5, expected "," or the end'],
    ['a in b', 'found "b" at position 6, expected "(" and values'],
    ['a in (b', 'found the end, expected "," or ")"'],
    ['a in (b=c)', 'found "=" at position 8, expected "," or ")"'],
    ['a>x', 'found "x" at position 3, expected a whole number'],
    ['a>', 'found the end, expected a whole number'],
    ['!a=b', 'found "=" at position 3, expected "," or the end'],
    ['-a=b', '"-a" is not a label key'],
    ['a/b/c=d', '"a/b/c" is not a label key'],
    [`${'a'.repeat(64)}=b`, 'is not a label key'],
    ['a=b/c', '"b/c" is not a label value'],
    [`a=${'b'.repeat(64)}`, 'is not a label value'],
  ])('refuses %j and names the fault', (selector, fault) => {
    expect(faultOf(selector)).toContain(`labelSelector: `)
    expect(faultOf(selector)).toContain(fault)
  })
})

describe('matchesLabels', () => {
  const matches = (selector: string, labels?: Record<string, string>) =>
    matchesLabels(parseLabelSelector(selector), labels)

  it('meets an absent label only with a requirement of absence or of another value', () => {
    expect(['a!=b', 'a notin (b)', '!a', ''].map((selector) => matches(selector))).toEqual([true, true, true, true])
    expect(['a=b', 'a=', 'a in (b)', 'a', 'a>1'].map((selector) => matches(selector, {}))).not.toContain(true)
  })

  it('does not take inherited properties for labels', () => {
    expect(matches('constructor', {})).toBe(false)
    expect(matches('!constructor', {})).toBe(true)
  })

  it('compares whole numbers as numbers, and other values with none', () => {
    expect(matches('a>9', { a: '10' })).toBe(true)
    expect(matches('a<9', { a: '10' })).toBe(false)
    expect(matches('a>9', { a: 'x10' })).toBe(false)
  })
})
