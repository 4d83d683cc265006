import { expect, it } from 'vitest'
import type { MonitorItem } from '../../../../src/contract/api/monitors/monitor-records.ts'
import { hasReviewToPost } from './posting.ts'

const login = { gitSecretRef: { name: 'login' } }
const loud = { ...login, review: { publish: { postSecuritySensitive: true } } }

it.each([
  ['passed', login, true],
  ['passed', {}, false],
  ['security_sensitive', login, false],
  ['security_sensitive', loud, true],
] as const)('a review that is %s, of a monitor with %j, can be posted: %j', (lastVerdict, spec, isOffered) => {
  const item = { headSHA: 'a', lastReviewedHeadSHA: 'a', lastVerdict } as MonitorItem
  expect(hasReviewToPost(item, spec)).toBe(isOffered)
})
