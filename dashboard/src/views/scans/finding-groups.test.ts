import { expect, it } from 'vitest'
import { groupFindings } from './finding-groups.ts'

const found = [
  { id: 1, filePath: 'b.go', ruleID: 'sqli' },
  { id: 2, filePath: 'a.go', category: 'injection' },
  { id: 3, filePath: 'b.go' },
  { id: 4, ruleID: 'sqli' },
]
const by = (grouping: string | null) =>
  groupFindings(found, grouping)?.map(({ name, findings }) => [name, findings.map(({ id }) => id)])

it('has the groups in the order of what they begin with', () => {
  expect(by('file')).toEqual([
    ['b.go', [1, 3]],
    ['a.go', [2]],
    ['without a file', [4]],
  ])
})

it('takes the class of a weakness where there is no rule', () => {
  expect(by('rule')).toEqual([
    ['sqli', [1, 4]],
    ['injection', [2]],
    ['without a rule', [3]],
  ])
})

it('groups nothing by what it does not know', () => {
  expect([by(null), by('colour')]).toEqual([undefined, undefined])
})
