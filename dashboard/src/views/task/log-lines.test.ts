import { describe, expect, it } from 'vitest'
import { createFinder, createLogLines, splitFound } from './log-lines.ts'

function fill(lines: string[], ...limits: number[]) {
  const log = createLogLines(...limits)
  for (const line of lines) log.add(line)
  return log
}

describe('the lines of a log', () => {
  it('replaces the parts of a line by the whole one', () => {
    const log = fill(['one'])
    log.add({ offset: 0, text: 'tw' })
    log.add({ offset: 2, text: 'o, hal' })
    expect([log.count(), log.at(1)]).toEqual([2, 'two, hal'])
    log.add('two, half and whole')
    expect(log.text()).toBe('one\ntwo, half and whole\n')
  })

  it('takes a part that is told again after a reconnect for the same one', () => {
    const log = fill([])
    log.add({ offset: 0, text: 'begin' })
    log.add({ offset: 0, text: 'begin' })
    log.add({ offset: 5, text: 'ning' })
    expect(log.at(0)).toBe('beginning')
  })

  it('lets go of the beginning of what is too long, and says how much', () => {
    const log = fill(['a', 'b', 'c', 'd', 'e', 'f'], 5, 2)
    expect([log.dropped(), log.count(), log.at(0)]).toEqual([2, 4, 'c'])
  })
})

describe('finding in a log', () => {
  it('finds what comes later as well, in any case and through colours', () => {
    const find = createFinder('error')
    const log = fill(['fine', 'an ERROR', `${String.fromCharCode(27)}[31mer${String.fromCharCode(27)}[0mror`])
    expect(find(log)).toEqual([1, 2])
    log.add('another error')
    expect(find(log)).toEqual([1, 2, 3])
  })

  it('looks again at a line that grows', () => {
    const find = createFinder('done')
    const log = fill(['begun'])
    log.add({ offset: 0, text: 'do' })
    expect(find(log)).toEqual([])
    log.add({ offset: 2, text: 'ne' })
    expect(find(log)).toEqual([1])
    log.add('done now')
    expect(find(log)).toEqual([1])
  })

  it('keeps the numbers of lines when the beginning is let go', () => {
    const find = createFinder('x')
    const log = fill(['x1', 'b', 'x3', 'd', 'e'], 5, 2)
    expect(find(log)).toEqual([0, 2])
    log.add('x6')
    expect([log.dropped(), find(log)]).toEqual([2, [2, 5]])
  })

  it('takes what is looked for literally', () => {
    expect(splitFound('a.b and aXb', 'A.B')).toEqual(['', 'a.b', ' and aXb'])
    expect(splitFound('all of it', '')).toEqual(['all of it'])
  })
})
