// Sources of a resource controller: its own kind, and the kinds that its objects refer to.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { createListenerSource, type Enqueue, formatKey, type KeySource } from '../engine/controller.ts'
import { createKindSource } from '../engine/kind-source.ts'
import type { ResourceControllerDeps } from './settings.ts'

export type ReferenceIndex = {
  /** Replaces the references of the object. */
  set(key: string, references: string[]): void
  remove(key: string): void
  /** Keys of the objects that refer to it. */
  find(reference: string): string[]
  clear(): void
}

export function createReferenceIndex(): ReferenceIndex {
  const named = new Map<string, string[]>()
  const namers = new Map<string, Set<string>>()

  function remove(key: string): void {
    for (const reference of named.get(key) ?? []) {
      const keys = namers.get(reference)
      keys?.delete(key)
      if (keys?.size === 0) namers.delete(reference)
    }
    named.delete(key)
  }

  return {
    set(key, references) {
      remove(key)
      named.set(key, references)
      for (const reference of references) {
        const keys = namers.get(reference) ?? new Set()
        namers.set(reference, keys.add(key))
      }
    },
    remove,
    find: (reference) => [...(namers.get(reference) ?? [])],
    clear() {
      named.clear()
      namers.clear()
    },
  }
}

/** Stands for any object of the kind in the namespace. */
export const anyName = '*'

/** A reference as text: the kind (or `Secret`) and the key. */
export function nameReference(kind: string, namespace: string, name: string): string {
  return `${kind}:${namespace}/${name}`
}

/** Every change of the kind's objects; the references of each are indexed. */
export function createOwnSource<K extends Kind>(
  deps: ResourceControllerDeps,
  kind: K,
  index: ReferenceIndex,
  listReferences: (object: ResourceOf<K>) => string[],
): KeySource {
  const { resources, clock } = deps
  return createKindSource({
    kind,
    resources,
    clock,
    onObject({ type, object }, enqueue) {
      const key = formatKey(object.metadata)
      if (type === 'DELETED') index.remove(key)
      else index.set(key, listReferences(object))
      enqueue(key)
    },
  })
}

function wakeNamers(index: ReferenceIndex, reference: string, enqueue: Enqueue): void {
  for (const key of index.find(reference)) enqueue(key)
}

/** Changes of a kind that the controller's objects refer to. */
export function createReferenceSource(deps: ResourceControllerDeps, kind: Kind, index: ReferenceIndex): KeySource {
  const { resources, clock } = deps
  return createKindSource({
    kind,
    resources,
    clock,
    resync: [],
    onObject({ type, object }, enqueue) {
      if (type === 'LISTED') return
      const { namespace, name } = object.metadata
      for (const named of [name, anyName]) wakeNamers(index, nameReference(kind, namespace, named), enqueue)
    },
  })
}

export function createSecretSource({ secrets }: ResourceControllerDeps, index: ReferenceIndex): KeySource {
  return createListenerSource('secrets', (enqueue) =>
    secrets.onChange(({ namespace, name }) => wakeNamers(index, nameReference('Secret', namespace, name), enqueue)),
  )
}

export function createConfigMapSource({ configMaps }: ResourceControllerDeps, index: ReferenceIndex): KeySource {
  return createListenerSource('config maps', (enqueue) =>
    configMaps.onChange(({ namespace, name }) =>
      wakeNamers(index, nameReference('ConfigMap', namespace, name), enqueue),
    ),
  )
}
