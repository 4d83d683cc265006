import { describe, expect, it } from 'vitest'
import { createBlock, fitLines } from './block.ts'

const escapeCode = '\u001b'

function record(columns = 20, rows = 5) {
  const screen = {
    text: '',
    columns,
    rows,
    write(text: string) {
      screen.text += text
    },
  }
  return screen
}

describe('a block of lines', () => {
  it('is drawn over what it was before', () => {
    const screen = record()
    const block = createBlock(screen)
    block.draw(['one', 'two'])
    block.draw(['three'])
    block.end(['four', 'five'])
    const erased = (lines: number) => `\r${escapeCode}[${lines}A${escapeCode}[J`
    expect(screen.text).toBe(`\r${escapeCode}[Jone\ntwo\n${erased(2)}three\n${erased(1)}four\nfive\n`)
  })

  it('never wraps or scrolls, except for its end, and shows control signs', () => {
    const screen = record(14, 4)
    const block = createBlock(screen)
    block.draw(['a very long line', 'b', 'c', 'd', `${escapeCode}[2J`])
    expect(screen.text.split(`${escapeCode}[J`)[1]?.split('\n')).toEqual(['a very long…', 'b', '… and 3 more', ''])
    block.end(['1', '2', '3', '4', `${escapeCode}[2J`])
    expect(screen.text.split(`${escapeCode}[J`).at(-1)).toBe('1\n2\n3\n4\n\u241b[2J\n')
  })
})

it('lines that do not fit are counted', () => {
  expect(fitLines(['a', 'b', 'c'], record(), 3)).toEqual(['a', 'b', 'c'])
  expect(fitLines(['a', 'b', 'c', 'd'], record(), 3)).toEqual(['a', 'b', '… and 2 more'])
})
