// How a provider is called in what is written of a namespace: usage records, metrics, messages.
import type { ResourceKey } from '../../ports/resources.ts'

/** With its namespace where that is another one. */
export function nameProviderIn(namespace: string, provider: ResourceKey): string {
  return provider.namespace === namespace ? provider.name : `${provider.namespace}/${provider.name}`
}
