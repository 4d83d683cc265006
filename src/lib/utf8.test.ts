import { describe, expect, it } from 'vitest'
import { headOfText, trimPartialCharacters } from './utf8.ts'

describe('the head of a text', () => {
  it('is the text itself where it fits', () => {
    expect(headOfText('aé', 3)).toEqual({ text: 'aé', dropped: 0 })
  })

  it.each([
    ['aé', 2, 'a', 2],
    ['a€b', 3, 'a', 4],
    ['a😀', 4, 'a', 4],
    ['a😀', 0, '', 5],
  ])('never ends within a character: %s to %i bytes', (text, maxBytes, head, dropped) => {
    expect(headOfText(text, maxBytes)).toEqual({ text: head, dropped })
  })
})

describe('a window into a file', () => {
  const bytes = Buffer.from('é€😀')

  it('loses the incomplete characters at both ends', () => {
    const window = trimPartialCharacters(bytes.subarray(1, 7), { startsInside: true, endsInside: true })
    expect([window.bytes.toString(), window.skipped]).toEqual(['€', 1])
  })

  it('is kept whole where it begins and ends with the file, or where nothing complete would be left', () => {
    expect(trimPartialCharacters(bytes, { startsInside: false, endsInside: false })).toEqual({ bytes, skipped: 0 })
    const part = bytes.subarray(6, 8)
    expect(trimPartialCharacters(part, { startsInside: true, endsInside: true })).toEqual({ bytes: part, skipped: 0 })
  })
})
