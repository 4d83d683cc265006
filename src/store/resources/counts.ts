// The number of objects, kept up to date so that no list has to count rows.
import type { Kind } from '../../contract/kinds/index.ts'
import type { Change, Scope } from '../watching/change-ring.ts'

export type ResourceCounts = {
  apply(change: Change): void
  count(scope: Scope): number
  /** The namespaces that contain objects of the kind, in order. */
  namespaces(kind: Kind): string[]
}

export function createResourceCounts(initial: { kind: Kind; namespace: string; count: number }[]): ResourceCounts {
  const byNamespace = new Map<string, number>()
  const byKind = new Map<Kind, number>()

  function add(kind: Kind, namespace: string, amount: number): void {
    const key = `${kind}/${namespace}`
    const count = (byNamespace.get(key) ?? 0) + amount
    // Namespaces come and go, so the entry of an empty one is removed.
    if (count === 0) byNamespace.delete(key)
    else byNamespace.set(key, count)
    byKind.set(kind, (byKind.get(kind) ?? 0) + amount)
  }

  for (const { kind, namespace, count } of initial) add(kind, namespace, count)
  return {
    apply(change) {
      if (change.type === 'ADDED') add(change.kind, change.namespace, 1)
      if (change.type === 'DELETED') add(change.kind, change.namespace, -1)
    },
    count: ({ kind, namespace }) =>
      (namespace === undefined ? byKind.get(kind) : byNamespace.get(`${kind}/${namespace}`)) ?? 0,
    namespaces: (kind) => {
      const prefix = `${kind}/`
      const keys = [...byNamespace.keys()].filter((key) => key.startsWith(prefix))
      return keys.map((key) => key.slice(prefix.length)).sort()
    },
  }
}
