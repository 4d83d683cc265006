import { expect, it } from 'vitest'
import { directionOf } from './direction.ts'

it.each([
  ['ar', 'rtl'],
  ['he-IL', 'rtl'],
  ['FA', 'rtl'],
  ['ur-Arab-PK', 'rtl'],
  ['en-GB', 'ltr'],
  // Begins like Arabic, and is not written like it.
  ['arn', 'ltr'],
  ['', 'ltr'],
])('pages for readers of %j are laid out %s', (language, direction) => {
  expect(directionOf(language)).toBe(direction)
})
