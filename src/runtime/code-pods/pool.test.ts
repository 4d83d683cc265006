import { describe, expect, it } from 'vitest'
import type { KubernetesApi } from '../../cluster/api.ts'
import { systemClock, systemIds } from '../../lib/system-clock.ts'
import { createSandboxPool } from './pool.ts'

/** A cluster that takes requests and never answers. */
function openPool() {
  const silent = () => new Promise<never>(() => undefined)
  const api = new Proxy({}, { get: () => silent }) as unknown as KubernetesApi
  return createSandboxPool({
    api,
    clock: systemClock,
    ids: systemIds,
    log: { warn: () => undefined },
    instance: 'svc',
    namespace: 'svc',
    image: 'image',
    memoryBytes: 1,
    diskBytes: 1,
  })
}

describe('a pool of sandboxes', () => {
  it('gives up a request whose caller leaves before asking or before the cluster has answered', async () => {
    const pool = openPool()
    const gone = new Error('the caller has left')
    await expect(pool.take(AbortSignal.abort(gone))).rejects.toBe(gone)
    const leaving = new AbortController()
    const waiting = pool.take(leaving.signal)
    leaving.abort(gone)
    await expect(waiting).rejects.toBe(gone)
  })
})
