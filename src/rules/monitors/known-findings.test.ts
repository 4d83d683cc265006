import { describe, expect, it } from 'vitest'
import { readDiffLines } from './diff-lines.ts'
import { recognizeFindings } from './known-findings.ts'

const lines = readDiffLines('--- a/a.ts\n+++ b/a.ts\n@@ -1,2 +1,3 @@\n one\n+two\n three\n')
const given = (title: string, more: object = {}) => {
  return { priority: 'P1' as const, confidence: 'high' as const, file: 'a.ts', line: 2, title, body: 'x', ...more }
}
const recognize = (findings: ReturnType<typeof given>[], known: Parameters<typeof recognizeFindings>[1]['known']) =>
  recognizeFindings(findings, { number: 7, lines, known })

describe('a finding', () => {
  const known = { id: 'find-1', file: 'a.ts', title: 'The last token is dropped', anchor: 'two', shownAt: 'then' }

  it.each([
    ['the same words at the same line', given('The last token is dropped'), 'find-1'],
    ['some of the words at the same line', given('Drops the last token'), 'find-1'],
    ['the same words at another line', given('The last token is dropped', { line: 3 }), 'find-1'],
    ['some of the words at another line', given('Drops the last token', { line: 3 }), undefined],
    ['the same words in another file', given('The last token is dropped', { file: 'b.ts', line: null }), undefined],
    ['other words at the same line', given('No test covers this'), undefined],
  ])('with %s is known or not', (_how, finding, id) => {
    const [placed] = recognize([finding as ReturnType<typeof given>], [known])
    expect(placed?.finding).toMatchObject(id === undefined ? { state: 'new' } : { id, state: 'shown' })
  })

  it('that is made twice in one review is one', () => {
    expect(recognize([given('The last token is dropped'), given('The last token gets dropped')], [])).toHaveLength(1)
  })

  it('stays dismissed, and is compared with thousands', () => {
    const many = Array.from({ length: 20_000 }, (_, at) => ({
      id: `find-${at}`,
      file: 'a.ts',
      title: `Number ${at} of all`,
    }))
    const dismissed = { ...known, dismissedAt: 'then' }
    const all = Array.from({ length: 49 }, (_, at) => given(`entirely other words ${at}`))
    const placed = recognize([...all, given('The last token is dropped')], [...many, dismissed])
    expect(placed.at(-1)?.finding).toMatchObject({ id: 'find-1', state: 'dismissed' })
  })
})
