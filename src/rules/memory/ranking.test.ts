import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Memory } from '../../contract/api/memory/memories.ts'
import { chooseMemories, fuseRanks, providedMemories } from './ranking.ts'

const memory = (id: string, content: string, tags: string[] = []): Memory => ({
  id,
  namespace: 'default',
  source: 'manual',
  content,
  tags,
  disabled: false,
  deleted: false,
  createdAt: '2026-03-01T12:00:00Z',
  updatedAt: '2026-03-01T12:00:00Z',
  recalledCount: 0,
})

describe('the memories that a task begins with', () => {
  it('are the best ones, each with the words that it shares with the prompt', () => {
    const found = [memory('a', 'Staging is reset on Mondays', ['database']), memory('b', 'unrelated')]
    expect(chooseMemories(found, 'why was the staging database reset?')).toEqual([
      {
        id: 'a',
        text: 'Staging is reset on Mondays',
        tags: ['database'],
        why: expect.stringMatching(/stage?.*reset.*databas/),
      },
      { id: 'b', text: 'unrelated', why: 'is like the prompt' },
    ])
  })

  it('are five at most, of which each and all have a limit', () => {
    const long = Array.from({ length: 9 }, (_, at) => memory(`m${at}`, `${at}`.repeat(2000)))
    const given = chooseMemories(long, 'x')
    expect(given.map(({ text }) => text.length)).toEqual([1200, 1200, 1200, 1200, 1200])
    expect(given.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(providedMemories.all)
    expect(chooseMemories([], 'x')).toEqual([])
  })
})

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
