import { describe, expect, it } from 'vitest'
import { matchesLabels } from './label-selector.ts'

describe('a label selector', () => {
  it.each([
    ['team=search', true],
    ['team==search,env', true],
    ['team!=search', false],
    ['gone!=x, !gone', true],
    ['gone=x', false],
    ['!env', false],
    ['svc.ai/parent-task = top', true],
    ['team in (search, ads)', undefined],
    ['team>3', undefined],
    ['constructor', false],
    ['!toString', true],
  ])('%s: %s', (selector, matched) => {
    expect(matchesLabels(selector, { team: 'search', env: '', 'svc.ai/parent-task': 'top' })).toBe(matched)
  })
})
