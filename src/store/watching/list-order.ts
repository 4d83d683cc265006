// The orders that a list can have, and where an object stands in them: the same in every store.
import type { ResourceKey, ResourceQuery } from '../../ports/resources/resources.ts'
import type { StoredObject } from './stored-object.ts'

export type ListOrder = NonNullable<ResourceQuery['sort']>

/** Where an object stands in any order. */
export type Position = ResourceKey & { created: string }

/** Time of creation in whole seconds, then the uid, which the embedded store makes in order of time. */
export function formatCreated({ metadata }: Pick<StoredObject, 'metadata'>): string {
  return `${metadata.creationTimestamp} ${metadata.uid}`
}

function compareTexts(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function compareKeys(left: ResourceKey, right: ResourceKey): number {
  return compareTexts(left.namespace, right.namespace) || compareTexts(left.name, right.name)
}

const comparisons: Record<ListOrder, (left: Position, right: Position) => number> = {
  name: compareKeys,
  created: (left, right) => compareTexts(left.created, right.created),
  '-created': (left, right) => compareTexts(right.created, left.created),
}

/** Negative where the first one of two positions comes before the other. */
export function comparePositions(order: ListOrder): (left: Position, right: Position) => number {
  return comparisons[order]
}
