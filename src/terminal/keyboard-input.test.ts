import { expect, it } from 'vitest'
import { createKeyboardInput, type Piece } from './keyboard-input.ts'

/** Each argument is what the terminal sends at once; between them there is silence. */
function type(...bursts: string[][]): Piece[] {
  const pieces: Piece[] = []
  let waiting = () => {}
  const input = createKeyboardInput(
    (piece) => pieces.push(piece),
    (work) => {
      waiting = work
      return () => {
        waiting = () => {}
      }
    },
  )
  for (const burst of bursts) {
    for (const chunk of burst) input.feed(chunk)
    waiting()
  }
  input.end()
  return pieces
}

const keys = (text: string): Piece => ({ type: 'keys', text })
const text = (value: string): Piece => ({ type: 'text', text: value })
const enter: Piece = { type: 'enter' }

it('takes typed lines one by one', () => {
  expect(type(['a'], ['\r'], ['b\r'], ['\r'])).toEqual([keys('a'), enter, keys('b'), enter, enter])
})

it('takes lines that arrive together as one text, wherever they are split', () => {
  const pieces = [text('one\n\n  two\nthree'), enter]
  expect(type(['one\r\r  two\rthree\r'])).toEqual(pieces)
  expect(type(['one\n', '\n  tw', 'o\nthree\n'])).toEqual(pieces)
  expect(type(['one\r\n\r\n  two\r\nthree'])).toEqual([text('one\n\n  two\nthree')])
})

it('takes a bracketed paste as a text that is not sent yet, wherever its markers are split', () => {
  const pasted = 'x\u001b[200~one\rtwo\u001b[2J\r\u001b[201~y\r'
  const pieces = [keys('x'), text('one\ntwo[2J\n'), keys('y'), enter]
  expect(type([pasted])).toEqual(pieces)
  for (let cut = 1; cut < pasted.length; cut += 1) {
    const whole = type([pasted.slice(0, cut), pasted.slice(cut)])
    const joined = whole.filter((piece) => piece.type !== 'keys')
    expect(joined, `cut at ${cut}`).toEqual(pieces.filter((piece) => piece.type !== 'keys'))
  }
  expect(type(['\u001b[200~one\rtwo\r\u001b[201~\u001b[200~three\u001b[201~'])).toEqual([
    text('one\ntwo\n'),
    text('three'),
  ])
})

it('knows the keys that begin a line within a message', () => {
  expect(type(['a'], ['\u001b\r'], ['b'], ['\n'], ['c\r'])).toEqual([
    keys('a'),
    { type: 'newline' },
    keys('b'),
    { type: 'newline' },
    keys('c'),
    enter,
  ])
})

it('passes arrow keys on unchanged, and handles Ctrl-C at once', () => {
  expect(type(['\u001b[A\r'])).toEqual([keys('\u001b[A'), enter])
  expect(type(['\u001b[A\rdown\r'])).toEqual([keys('\u001b[A'), enter, keys('down'), enter])
  const pieces: Piece[] = []
  const never = () => () => {}
  createKeyboardInput((piece) => pieces.push(piece), never).feed('a\r\u0003')
  expect(pieces).toEqual([keys('a'), enter, { type: 'interrupt' }])
})
