import { expect, it } from 'vitest'
import { resolveEnvironment } from './environment.ts'

it('of a task keeps the keys of review markers from its code', async () => {
  const env = [
    { name: 'SVC_PR_REVIEW_MARKER_SECRET', valueFrom: { secretKeyRef: { name: 'not-read', key: 'k' } } },
    { name: 'SVC_PR_REVIEW_MARKER_PREVIOUS_SECRETS', value: 'a,b' },
    { name: 'MODE', value: 'plain' },
  ]
  const task = { metadata: { namespace: 'default', name: 'job' }, spec: { env } } as never
  const nothing = {
    read: async () => {
      throw new Error('a key was read')
    },
  } as never
  const attempt = { task, limits: {} as never }
  expect(await resolveEnvironment({ secrets: nothing, configMaps: nothing }, attempt)).toEqual({
    variables: { MODE: 'plain' },
    secrets: [],
  })
})
