import { describe, expect, it } from 'vitest'
import { createLineWriter } from './line-writer.ts'

function record() {
  let text = ''
  const lines = createLineWriter((part) => {
    text += part
  })
  return { lines, text: () => text }
}

describe('a writer of lines', () => {
  it('writes the rest of a line that came in parts', () => {
    const { lines, text } = record()
    lines.line('first')
    lines.part({ offset: 0, text: 'one ' })
    lines.part({ offset: 4, text: 'two' })
    expect([text(), lines.isOpen()]).toEqual(['first\none two', true])
    lines.line('one two three')
    lines.end()
    expect([text(), lines.isOpen()]).toEqual(['first\none two three\n', false])
  })

  it('writes no part twice when it comes again, and none when an earlier part is missing', () => {
    const { lines, text } = record()
    lines.part({ offset: 0, text: 'one ' })
    lines.part({ offset: 0, text: 'one two' })
    lines.part({ offset: 20, text: 'lost' })
    lines.part({ offset: 2, text: 'e' })
    expect(text()).toBe('one two')
    lines.line('one two three')
    expect(text()).toBe('one two three\n')
  })

  it('begins a new line before other text, or before none', () => {
    const { lines, text } = record()
    lines.part({ offset: 0, text: 'one' })
    lines.line('[another line]')
    lines.part({ offset: 0, text: 'half' })
    lines.end()
    expect(text()).toBe('one\n[another line]\nhalf\n')
  })
})
