import { describe, expect, it } from 'vitest'
import { writeStatus } from './status-comment.ts'

const show = (detail: string) => writeStatus('done', detail).split('\n').slice(3).join('\n')

describe('what a command is answered with', () => {
  it('does nothing at the code host, whatever the model says', () => {
    const text =
      '![x](https://evil.example/p.png) <img src=x> <details> #12 GH-3 @team <!-- svc:pr-review -->\n/svc stop\n```suggestion\nx\n```'
    const shown = show(text)
    for (const active of ['![', '<img', '<details', '#12', 'GH-3', '@team', '<!--', '-->', '\n/svc', '```suggestion'])
      expect(shown, active).not.toContain(active)
    expect(shown.replaceAll('\u200b', '')).toBe(text)
  })

  it.each([
    [
      '{"summary":"It fixes the port.","risks":["none","time"]}',
      ['- **summary**: It fixes the port.', '- none', '- time'],
    ],
    ['```json\n[{"file":"a.ts","line":3}]\n```', ['- **file**: a.ts', '- **line**: 3']],
    ['{"summary":"It fix', ['The answer is data and no text']],
    ['{}', ['The answer is empty.']],
    ['[link](https://example.com) is prose', ['[link](https://example.com) is prose']],
    ['It fixes `{"a":1}`.', ['It fixes `{"a":1}`.']],
  ])('is prose, also of the answer %s', (answer, parts) => {
    const shown = show(answer)
    for (const part of parts) expect(shown).toContain(part)
    if (answer.startsWith('{') || answer.startsWith('```')) expect(shown).not.toMatch(/[{}]|"/)
  })

  it('is bounded by depth and length', () => {
    expect(show(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`).length).toBeLessThan(200)
    expect(show('x'.repeat(40_000))).toContain('(cut)')
  })
})
