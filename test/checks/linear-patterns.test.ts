// No text stops the service: each pattern is proved to take linear time, or has what bounds its time in a table.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builders, exceptions, workers } from './pattern-exceptions.ts'
import { findDoubt, listAllBuilt, listPatterns, nameOf, type Pattern, provedList } from './patterns.ts'
import { root } from './source-tree.ts'

const proved = new Set(readFileSync(join(root, provedList), 'utf8').trim().split('\n'))
const { literals, constructions } = listPatterns()
const built = await listAllBuilt(builders)
const all = [...literals, ...built]
const names = new Set(all.map(nameOf))

/** Proofs take seconds: more of them are made by `npm run prove-patterns`. */
const maxProofs = 3

describe('a pattern', () => {
  it('is proved to take linear time, or has a bound', { timeout: 120_000 }, () => {
    const open = new Map(
      all
        .filter((pattern) => !proved.has(nameOf(pattern)) && !(nameOf(pattern) in exceptions))
        .map((pattern) => [nameOf(pattern), pattern] as [string, Pattern]),
    )
    const doubts = [...open].map(([name, pattern], index) => {
      const doubt = index < maxProofs ? findDoubt(pattern) : { source: name, reason: 'run `npm run prove-patterns`' }
      return doubt && `${pattern.path}:${pattern.line} ${name}: ${doubt.reason} (${doubt.source})`
    })
    expect(doubts.filter((doubt) => doubt !== undefined)).toEqual([])
  })

  it('that is built is known, with its bound', () => {
    const known = [...builders, ...Object.keys(workers)]
    expect([...new Set(constructions.map(({ path }) => path))].filter((path) => !known.includes(path))).toEqual([])
  })

  it('is listed or excepted only while it is there', () => {
    const paths = new Set(constructions.map(({ path }) => path))
    expect(Object.keys(exceptions).filter((name) => !names.has(name))).toEqual([])
    expect([...builders, ...Object.keys(workers)].filter((path) => !paths.has(path))).toEqual([])
  })

  it.each([
    [/\s+$/, '2nd degree'],
    [/"[^x]*x/g, '2nd degree'],
    [/(a+)+$/, 'exponential'],
    [/authorization[:=]\s*(?:bearer)?\s*[^\s;]{6,}/gi, '2nd degree'],
    [/^a{1,300}$/, undefined],
    [/a|b+c/g, '2nd degree'],
  ])('%s is judged as a search from any place', ({ source, flags }, doubt) => {
    const found = findDoubt({ source, flags })?.reason
    if (doubt === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(doubt)
  })
})
