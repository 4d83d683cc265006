// The models that a vendor offers, requested from it and cached for a minute. A vendor that does not tell offers none
// here. Some are asked at a time, and one that does not answer holds its permit until its own deadline.

import type { Provider } from '../contract/kinds/providers/provider.ts'
import { createFairSemaphore } from '../lib/fair-semaphore.ts'
import { createLookupCaches } from '../lookup/memory.ts'
import { providersTriedAtOnce } from '../lookup/models.ts'
import type { ProviderTrial } from '../ports/providers/rate-limits.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { tryProvider } from './provider-trial.ts'

export type OfferedModels = {
  /** The vendor's own names, or why it gives none. */
  ask(provider: Provider): Promise<ProviderTrial>
  close(): void
}

const cacheMs = 60_000

export function createOfferedModels(deps: Pick<UsecaseDeps, 'ports' | 'settings'>): OfferedModels {
  const memory = createLookupCaches(deps.ports, { kinds: ['Provider'], maxAgeMs: cacheMs })
  const cache = memory.createCache<ProviderTrial>()
  const semaphore = createFairSemaphore(providersTriedAtOnce)
  const closing = new AbortController()

  async function load(provider: Provider): Promise<ProviderTrial> {
    const { namespace } = provider.metadata
    await semaphore.acquire(namespace, closing.signal)
    try {
      return await tryProvider(deps, provider, closing.signal)
    } finally {
      semaphore.release(namespace)
    }
  }

  return {
    async ask(provider) {
      const { namespace, name } = provider.metadata
      const loadOrNone = () => load(provider).catch(() => ({ models: [] }))
      return cache.get(`${namespace}/${name}`, { namespace, load: loadOrNone })
    },
    close() {
      closing.abort()
      memory.close()
    },
  }
}
