import { expect, it } from 'vitest'
import { parseDiff } from './diff.ts'
import { pairLines } from './pairs.ts'

function pairsOf(...lines: string[]) {
  const count = (signs: string) => lines.filter((line) => signs.includes(line[0] ?? '')).length
  const head = `--- a/x\n+++ b/x\n@@ -1,${count(' -')} +1,${count(' +')} @@`
  const hunk = parseDiff([head, ...lines].join('\n'))[0]?.hunks[0]
  return pairLines(hunk?.lines ?? []).map(({ before, after }) => [before?.text, after?.text])
}

it('puts removed lines beside those that replace them', () => {
  expect(pairsOf(' one', '-two', '-three', '+four', ' five', '+six', '-seven', '+eight')).toEqual([
    ['one', 'one'],
    ['two', 'four'],
    ['three', undefined],
    ['five', 'five'],
    [undefined, 'six'],
    ['seven', 'eight'],
  ])
})

it('leaves remarks where they belong', () => {
  const remark = '\\ No newline at end of file'
  const text = 'No newline at end of file'
  expect(pairsOf('-old', remark, '+new', remark)).toEqual([
    ['old', 'new'],
    [text, text],
  ])
  expect(pairsOf(' same', remark)).toEqual([
    ['same', 'same'],
    [text, text],
  ])
})
