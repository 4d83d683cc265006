// Sources of a catalog controller: its own kind, and the kinds that its objects refer to.
import type { Kind, ResourceOf } from '../../contract/kinds/index.ts'
import { createListenerSource, type Enqueue, type Source } from '../engine/controller.ts'
import { formatKey } from '../engine/key.ts'
import { createKindSource } from '../engine/kind-source.ts'
import { anyName, nameReference, type ReferenceIndex } from './reference-index.ts'
import type { CatalogDeps } from './settings.ts'

/** Every change of the kind's objects; the references of each are indexed. */
export function createOwnSource<K extends Kind>(
  deps: CatalogDeps,
  kind: K,
  index: ReferenceIndex,
  listReferences: (object: ResourceOf<K>) => string[],
): Source {
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
export function createReferenceSource(deps: CatalogDeps, kind: Kind, index: ReferenceIndex): Source {
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

export function createSecretSource({ secrets }: CatalogDeps, index: ReferenceIndex): Source {
  return createListenerSource('secrets', (enqueue) =>
    secrets.onChange(({ namespace, name }) => wakeNamers(index, nameReference('Secret', namespace, name), enqueue)),
  )
}

export function createConfigMapSource({ configMaps }: CatalogDeps, index: ReferenceIndex): Source {
  return createListenerSource('config maps', (enqueue) =>
    configMaps.onChange(({ namespace, name }) =>
      wakeNamers(index, nameReference('ConfigMap', namespace, name), enqueue),
    ),
  )
}
