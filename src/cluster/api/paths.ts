// Where things are on the API server: collections, objects and their subresources as paths.
import { dropUndefined } from '../../lib/json.ts'

/**
 * A collection of objects: its API group (empty for the core), version and plural name. Without version and plural it is
 * the group itself, whose answer lists its versions.
 */
export type Collection = { group: string; version: string; plural: string }

/** The target of a request; without `namespace` the whole cluster, without `name` the collection. */
export type ApiTarget = { collection: Collection; namespace?: string; name?: string; subresource?: string }

/** The lists and watches that cover these namespaces; absent or empty: all. */
export function listScopes(namespaces: readonly string[] = []): Pick<ApiTarget, 'namespace'>[] {
  return namespaces.length === 0 ? [{}] : namespaces.map((namespace) => ({ namespace }))
}

export type QueryValue = string | number | boolean | undefined

/** Collections that more than one adapter uses. */
export const collections = {
  configMaps: { group: '', version: 'v1', plural: 'configmaps' },
  secrets: { group: '', version: 'v1', plural: 'secrets' },
  events: { group: '', version: 'v1', plural: 'events' },
  leases: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' },
} as const satisfies Record<string, Collection>

function encodePart(part: string): string {
  // The API server resolves dots before it routes: a name like ".." must not become another path.
  return part === '.' || part === '..' ? part.replaceAll('.', '%2E') : encodeURIComponent(part)
}

function listPresent(part: string): string[] {
  return part === '' ? [] : [part]
}

/** Path and query of a request. */
export function formatApiPath(target: ApiTarget, query: Record<string, QueryValue> = {}): string {
  const { collection, namespace, name, subresource } = target
  const root = collection.group === '' ? ['api'] : ['apis', collection.group]
  const parts = [...root, ...listPresent(collection.version)]
  if (namespace !== undefined) parts.push('namespaces', namespace)
  parts.push(...listPresent(collection.plural))
  if (name !== undefined) parts.push(name)
  if (subresource !== undefined) parts.push(subresource)
  const present = Object.entries(dropUndefined(query))
  const search = new URLSearchParams(present.map(([key, value]): [string, string] => [key, String(value)])).toString()
  return `/${parts.map(encodePart).join('/')}${search === '' ? '' : `?${search}`}`
}

/** The label under which a request is counted: `tasks`, `tasks/status`; never a user-chosen name (HTTP-042). */
export function formatResource({ collection, subresource }: ApiTarget): string {
  if (collection.plural === '') return collection.group
  return subresource === undefined ? collection.plural : `${collection.plural}/${subresource}`
}
