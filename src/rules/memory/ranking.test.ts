import { describe, expect, it } from 'vitest'
import { dropRepeated } from './ranking.ts'

describe('texts that say the same', () => {
  it('are one, whatever their blanks and capitals', () => {
    const texts = ['The port is 8080.', 'the port  is\n8080. ', 'The port is 9090.']
    expect(dropRepeated(texts, (text) => text)).toEqual([texts[0], texts[2]])
  })
})
