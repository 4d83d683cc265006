import { describe, expect, it } from 'vitest'
import { systemClock, systemIds } from '../../lib/system-clock.ts'
import type { KubernetesApi } from '../api.ts'
import { createCampaign } from './lease.ts'

describe('a campaign for a lease', () => {
  it('ends at once when its signal is already aborted, though the cluster never answers', async () => {
    const silent = () => new Promise<never>(() => undefined)
    const api = new Proxy({}, { get: () => silent }) as unknown as KubernetesApi
    const campaign = createCampaign({
      api,
      clock: systemClock,
      ids: systemIds,
      namespace: 'svc',
      name: 'lease',
      identity: 'a',
      elapsed: () => performance.now(),
      onFault: undefined,
    })
    const gone = new Error('the service is stopping')
    await expect(campaign.win(AbortSignal.abort(gone), async () => 'won')).rejects.toBe(gone)
  })
})
