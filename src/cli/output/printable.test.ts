import { describe, expect, it } from 'vitest'
import { cutTo, makeHarmless, makeHarmlessKeepingColors, padTo, paint, widthOf } from './printable.ts'

const escapeCode = '\u001b'

describe('text for a terminal', () => {
  it.each([
    ['a colour', `a${escapeCode}[31mred`, 'a\u241b[31mred'],
    ['a window title', `${escapeCode}]0;owned\u0007`, '\u241b]0;owned\u2407'],
    ['an eight-bit control', 'a\u009b2J', 'a\ufffd2J'],
    ['a carriage return that overwrites', 'safe\rgone', 'safe\u240dgone'],
    ['a backspace and a delete', 'a\b\u007f', 'a\u2408\u2421'],
    ['a mark that turns text around', 'a\u202eb', 'a\ufffdb'],
  ])('shows %s instead of obeying it', (_what, text, shown) => {
    expect(makeHarmless(text)).toBe(shown)
  })

  it('keeps lines, tabs and every other script', () => {
    expect(makeHarmless('a\tb\r\nc\n日本 é 🙂')).toBe('a\tb\nc\n日本 é 🙂')
  })

  it('keeps colour sequences of the program itself, and shows all other sequences', () => {
    const text = `${paint('dim', 2, 22)} ${escapeCode}[31mred ${escapeCode}[8mhidden ${escapeCode}[2J`
    const shown = `${escapeCode}[2mdim${escapeCode}[22m \u241b[31mred \u241b[8mhidden \u241b[2J`
    expect(makeHarmlessKeepingColors(text)).toBe(shown)
  })
})

describe('the width of text', () => {
  it.each([
    ['abc', 3],
    ['日本', 4],
    ['e\u0301', 1],
    ['🙂', 2],
    ['…', 1],
  ])('of %s is %i columns', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  it('determines how it is padded and cut', () => {
    expect(padTo('日', 4)).toBe('日  ')
    expect(cutTo('日本語', 5)).toBe('日本…')
    expect(cutTo('short', 5)).toBe('short')
    expect(cutTo('a long text', 6)).toBe('a lon…')
  })
})
