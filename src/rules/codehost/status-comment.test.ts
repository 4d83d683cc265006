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

  it('leaves out what a machine keeps of its accounts, on lines of their own and in a sentence', () => {
    const accounts = [
      'root:x:0:0:root:/root:/bin/bash',
      'www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin',
      'root:$6$salt$hash:19000:0:99999:7:::',
    ]
    const leftOut = '[a line with an entry of a machine’s accounts is left out]'
    const shown = show(`It says ${accounts[0]} there.\n${accounts.slice(1).join('\n')}`)
    for (const entry of accounts) expect(shown).not.toContain(entry.slice(4))
    expect(shown.split(leftOut)).toHaveLength(4)
    const usual = 'a.ts:10:20: http:\u200b//host:80/path, 12:30:00, key:value, svc:x:1'
    expect(show(usual)).toBe(usual)
  })

  it('is bounded by depth and length', () => {
    expect(show(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`).length).toBeLessThan(200)
    expect(show('x'.repeat(40_000))).toContain('(cut)')
  })
})
