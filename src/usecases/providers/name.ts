// How usage records, metrics and messages of a namespace name a provider.
import type { ResourceKey } from '../../ports/resources/resources.ts'

/** Includes the provider's namespace when it is another one. */
export function nameProviderIn(namespace: string, provider: ResourceKey): string {
  return provider.namespace === namespace ? provider.name : `${provider.namespace}/${provider.name}`
}
