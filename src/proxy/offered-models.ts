// The models that a vendor offers, requested from it and cached for a minute. A vendor that does not tell offers none
// here.
import { createCatalogMemory } from '../catalog/memory.ts'
import type { Provider } from '../contract/resources/provider.ts'
import type { ProviderTrial } from '../ports/provider-trial.ts'
import type { UsecaseDeps } from '../usecases/deps.ts'
import { tryProvider } from './provider-trial.ts'

export type OfferedModels = {
  /** The vendor's own names, or why it gives none. */
  ask(provider: Provider): Promise<ProviderTrial>
  close(): void
}

const keptMs = 60_000
const timeoutMs = 5000

export function createOfferedModels(deps: Pick<UsecaseDeps, 'ports' | 'settings'>): OfferedModels {
  const memory = createCatalogMemory(deps.ports, { kinds: ['Provider'], longestMs: keptMs })
  const cache = memory.createCache<ProviderTrial>()

  return {
    async ask(provider) {
      const { namespace, name } = provider.metadata
      const load = () => tryProvider(deps, provider, AbortSignal.timeout(timeoutMs)).catch(() => ({ models: [] }))
      return cache.get(`${namespace}/${name}`, { namespace, load })
    },
    close: memory.close,
  }
}
