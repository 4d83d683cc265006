import { expect, it } from 'vitest'
import { isPlainLine } from './plain-line.tsx'
import { readMarkdown } from './tokens.ts'

it('takes no text for plain in which the reader of Markdown finds more than words', () => {
  const plain = ['The file is written, and says hello.', 'Done (2 of 3): 40 % - "all" is well; why not?', 'été']
  for (const text of plain) {
    expect(isPlainLine(text), text).toBe(true)
    expect(readMarkdown(text)).toEqual([{ type: 'paragraph', children: [{ type: 'text', text }] }])
  }
  const marked = [
    '',
    '1. one',
    '- one',
    'a\nb',
    'so *it* is',
    'a_b_c',
    'see www.example.com',
    'https://a.example',
    'a ~b~ c',
  ]
  for (const text of [...marked, 'x@a.example', '# A', '> a', '| a |', ' a', 'a &amp; b', 'a \\* b', '<b>', 'see [1]'])
    expect(isPlainLine(text), text).toBe(false)
})
