import { expect, it } from 'vitest'
import { ansiPieces } from './ansi.ts'

const esc = String.fromCharCode(27)
const read = (line: string) => ansiPieces(line.replaceAll('^', esc))

it('reads the colours of terminals', () => {
  expect(read('plain')).toEqual([{ text: 'plain' }])
  expect(read('a ^[31mred^[0m ^[1;92mgood^[22m^[39m end')).toEqual([
    { text: 'a ' },
    { text: 'red', colour: 1 },
    { text: ' ' },
    { text: 'good', isBold: true, colour: 2 },
    { text: ' end', isBold: false, isSoft: false },
  ])
  expect(read('^[38;5;12mblue^[m ^[38;2;1;31;3mrest')).toEqual([
    { text: 'blue', colour: 4 },
    { text: ' ' },
    { text: 'rest' },
  ])
})

it('moves no cursor, and shows what nobody sees', () => {
  expect(read('a^[2Jb^[31mc\u202ed')).toEqual([{ text: 'ab' }, { text: 'c⟨U+202E⟩d', colour: 1 }])
})
