// Keys of reconciliation: `namespace/name`, as text.
import type { ResourceKey } from '../../ports/resources/resources.ts'

export function formatKey(key: ResourceKey): string {
  return `${key.namespace}/${key.name}`
}

export function parseKey(text: string): ResourceKey {
  const slash = text.indexOf('/')
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) }
}
