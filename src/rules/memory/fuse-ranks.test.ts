import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuseRanks } from './fuse-ranks.ts'

describe('fused ranks', () => {
  it('put first what several lists have near their beginning', () => {
    expect(fuseRanks([{ keys: ['a', 'b', 'c'] }, { keys: ['d', 'b', 'e'] }])).toEqual(['b', 'a', 'd', 'c', 'e'])
    expect(fuseRanks([{ keys: ['a', 'b'] }, { keys: ['b', 'a'] }])).toEqual(['a', 'b'])
  })

  it('are those of the only list, and nothing without one', () => {
    expect(fuseRanks([{ keys: [3, 1, 2] }, { keys: [] }])).toEqual([3, 1, 2])
    expect(fuseRanks([])).toEqual([])
  })

  it('follow the list that counts more', () => {
    expect(fuseRanks([{ keys: ['a', 'b'] }, { keys: ['b', 'a'], weight: 2 }])).toEqual(['b', 'a'])
  })

  it('name every key once, whatever the lists repeat', () => {
    const lists = fc.array(fc.array(fc.integer({ min: 0, max: 9 })))
    fc.assert(
      fc.property(lists, (all) => {
        const fused = fuseRanks(all.map((keys) => ({ keys })))
        expect(fused.toSorted()).toEqual([...new Set(all.flat())].toSorted())
      }),
    )
  })
})
