import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFreeText } from './free-text.ts'

function readPieces(json: string, cuts: number[]): { streamed: string; whole: string } {
  const text = createFreeText()
  const places = [0, ...cuts.map((cut) => cut % (json.length + 1)).sort((a, b) => a - b), json.length]
  const streamed = places.slice(1).map((place, at) => text.push(json.slice(places[at], place)))
  return { streamed: streamed.join(''), whole: text.end() }
}

describe('free text out of arguments', () => {
  it('is the same wherever the arguments are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat()), fc.boolean(), (input, cuts, escapes) => {
        const plain = JSON.stringify({ input })
        const json = escapes
          ? plain.replaceAll(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
          : plain
        expect(readPieces(json, cuts)).toEqual({ streamed: input, whole: input })
      }),
    )
  })

  it('is what the model wrote when it is in another form', () => {
    expect(readPieces('*** Begin Patch', [3])).toEqual({ streamed: '', whole: '*** Begin Patch' })
    expect(readPieces('{"patch":"x"}', [3]).whole).toBe('{"patch":"x"}')
    expect(readPieces('{ "input" : "a\nb\tc"}', [12])).toEqual({ streamed: 'a\nb\tc', whole: 'a\nb\tc' })
    expect(readPieces('{"input":"cut o', [11])).toEqual({ streamed: 'cut o', whole: 'cut o' })
    expect(readPieces('{}', [])).toEqual({ streamed: '', whole: '' })
  })
})
