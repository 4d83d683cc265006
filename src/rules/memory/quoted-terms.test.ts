import { expect, it } from 'vitest'
import { splitTerms } from './quoted-terms.ts'

it.each([
  ['failed tests', ['failed', 'tests']],
  ['"failed tests" deploy', ['failed tests', 'deploy']],
  ['deploy"failed tests"now', ['deploy', 'failed tests', 'now']],
  ['"not closed', ['not closed']],
  ['a A "a"', ['a']],
  ['  \t"" " " ', []],
  ['NEAR(a* OR b)', ['NEAR(a*', 'OR', 'b)']],
])('splits %j', (query, terms) => {
  expect(splitTerms(query)).toEqual(terms)
})
