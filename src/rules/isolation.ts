// Isolated namespaces: a resource may refer only to others in its own namespace.
import { findReferences } from '../contract/reference-paths.ts'
import { type Kind, kinds, type SpecOf } from '../contract/resources/index.ts'

/** The first reference of a spec into another namespace, as a sentence; undefined when there is none. */
export function findForeignReference<K extends Kind>(kind: K, namespace: string, spec: SpecOf<K>): string | undefined {
  const foreign = findReferences(kind, spec).find((found) => (found.namespace ?? namespace) !== namespace)
  if (foreign === undefined) return undefined
  const whose = `${kinds[kind].plural} of "${namespace}"`
  return `${foreign.field} names namespace "${foreign.namespace}", but ${whose} may only use their own`
}
