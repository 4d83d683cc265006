import { expect, it } from 'vitest'
import { parseDiff } from './diff.ts'
import { markWords } from './word-marks.ts'
import { compareWords } from './words.ts'

const changed = (parts: { text: string; isChanged: boolean }[] | undefined) =>
  parts?.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')

it('says which words of two lines are others', () => {
  const parts = compareWords('Count to ten, slowly.', 'Count to twelve, slowly.')
  expect([changed(parts?.before), changed(parts?.after)]).toEqual([
    'Count to [ten], slowly.',
    'Count to [twelve], slowly.',
  ])
  expect(compareWords('one', 'two')).toBeUndefined()
})

it('marks lines that stand in for others, and no more', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-let a = 1\n+let a = 2\n same\n-gone\n+\n'
  const hunks = parseDiff(diff)[0]?.hunks ?? []
  const marks = markWords(hunks, compareWords)
  expect([...marks].map(([line, parts]) => [line.sign, changed(parts)])).toEqual([
    ['-', 'let a = [1]'],
    ['+', 'let a = [2]'],
  ])
  expect(markWords(hunks, undefined).size).toBe(0)
})
