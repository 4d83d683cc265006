// The resource store when only some namespaces are served: combines one store for each of them.
// Their watches are independent, so a version of all consists of each store's version, in the order of the names.
import { type Kind, kindNames, type ResourceOf } from '../contract/kinds/index.ts'
import { SvcError } from '../errors.ts'
import { mergeStreams } from '../lib/merged-streams.ts'
import type { ResourcePage, ResourceQuery, Resources, WatchEvent, WatchOptions } from '../ports/resources/resources.ts'
import { checkFields } from '../rules/resources/fields.ts'
import { comparePositions, formatCreated, type ListOrder, type Position } from '../store/watching/list-order.ts'
import { encodePageToken, hashFilter } from '../store/watching/page-token.ts'
import type { StoredObject } from '../store/watching/stored-object.ts'
import { createTextWatch } from '../store/watching/text-watch.ts'
import {
  createKubernetesResources,
  type KubernetesResources,
  type KubernetesResourcesOptions,
  type SingleStore,
} from './resources.ts'

type Store = { namespace: string; resources: SingleStore }

/** A version of one store alone: everything up to it was listed. */
const isVersion = (slot: string) => /^\d+$/.test(slot)

const between = '.'

/** How many entries of the page are still to be found, as in a query. */
function limitTo(left: number): Pick<ResourceQuery, 'limit'> {
  return left === Number.POSITIVE_INFINITY ? {} : { limit: Math.max(left, 1) }
}

/** Where each store continues: the token of its next page, or its version when it has none. */
function parseSlots(stores: Store[], token: string | undefined): (string | undefined)[] {
  if (token === undefined) return stores.map(() => undefined)
  const slots = token.split(between)
  if (slots.length === stores.length) return slots
  throw new SvcError('InvalidRequest', 'continue is not a token of this list: start again without it')
}

type Read<R> = (resources: KubernetesResources, query: ResourceQuery) => Promise<ResourcePage<R>>

/** What one store adds to a page, and its slot in the next token. */
type Part<R> = { items: R[]; version: string; next: string }

async function readPart<R>(read: () => Promise<ResourcePage<R>>, slot: string | undefined): Promise<Part<R>> {
  if (slot !== undefined && isVersion(slot)) return { items: [], version: slot, next: slot }
  const page = await read()
  const { items, resourceVersion: version } = page
  return { items, version, next: page.continue ?? version }
}

/** A full page takes nothing from the store, which starts with the next page, at its current version. */
function leaveOut<R>({ items, version, next }: Part<R>, start: string | undefined, filter: string): Part<R> {
  if (items.length === 0) return { items, version, next }
  return { items: [], version, next: start ?? encodePageToken(beginAt(version), filter) }
}

type Listing<R> = {
  stores: Store[]
  kind: Kind
  /** Without token, page size and namespace. */
  filter: ResourceQuery
  left: number
  slots: (string | undefined)[]
  read: Read<R>
}

/** What one store lists from its slot on, if it is listed at all. */
function readStore<R>({ stores, filter, slots, read }: Listing<R>, index: number, max: number): Promise<Part<R>> {
  const { namespace, resources } = stores[index] as Store
  const { namespaces, ...rest } = filter
  const own = { ...rest, namespace }
  const slot = slots[index]
  const from = slot === undefined ? {} : { continue: slot }
  const isListed = namespaces?.includes(namespace) ?? true
  if (isListed) return readPart(() => read(resources, { ...own, ...limitTo(max), ...from }), slot)
  return readPart(
    async () => ({ items: [], resourceVersion: (await read(resources, { ...own, limit: 1 })).resourceVersion }),
    slot,
  )
}

function hashOwn<R>({ stores, kind, filter }: Listing<R>, index: number): string {
  const { namespaces: _chosen, ...rest } = filter
  return hashFilter(kind, { ...rest, namespace: stores[index]?.namespace ?? '' })
}

/** The stores are sorted by name, and so are their objects one store after another. */
async function listByName<R>(listing: Listing<R>): Promise<Part<R>[]> {
  const parts: Part<R>[] = []
  let { left } = listing
  for (const [index] of listing.stores.entries()) {
    const part = await readStore(listing, index, left)
    parts.push(left > 0 ? part : leaveOut(part, listing.slots[index], hashOwn(listing, index)))
    left -= parts.at(-1)?.items.length ?? 0
  }
  return parts
}

type Positioned<R> = { item: R; index: number; position: Position }

function positionOf(item: object): Position {
  const { metadata } = ('text' in item ? JSON.parse(String(item.text)) : item) as StoredObject
  return { namespace: metadata.namespace, name: metadata.name, created: formatCreated({ metadata }) }
}

/** Reads a page of each store and takes the first entries; the others start the next page of their stores. */
async function listByCreation<R extends object>(listing: Listing<R>, order: ListOrder): Promise<[R[], Part<R>[]]> {
  const { stores, slots, left } = listing
  const parts = await Promise.all(stores.map((_store, index) => readStore(listing, index, left)))
  const compare = comparePositions(order)
  const indexed = parts
    .flatMap(({ items }, index) => items.map((item): Positioned<R> => ({ item, index, position: positionOf(item) })))
    .sort((one, other) => compare(one.position, other.position))
    .slice(0, left)
  const cut = parts.map((part, index): Part<R> => {
    const taken = indexed.filter((one) => one.index === index)
    if (taken.length === part.items.length) return part
    const last = taken.at(-1)?.position
    const goOn = () =>
      encodePageToken({ after: last ?? beforeAll(order), snapshot: Number(part.version) }, hashOwn(listing, index))
    return { ...part, next: last === undefined ? (slots[index] ?? goOn()) : goOn() }
  })
  return [indexed.map(({ item }) => item), cut]
}

/** A page over all stores. Each is read at the version that it had for the first page. */
async function listAll<R extends object>(
  stores: Store[],
  kind: Kind,
  query: ResourceQuery,
  read: Read<R>,
): Promise<ResourcePage<R>> {
  const { continue: token, limit, ...filter } = query
  const left = limit || Number.POSITIVE_INFINITY
  const listing = { stores, kind, filter, left, slots: parseSlots(stores, token), read }
  const { sort = 'name' } = query
  const [sorted, parts] = sort === 'name' ? [undefined, await listByName(listing)] : await listByCreation(listing, sort)
  const next = parts.map((part) => part.next)
  return {
    items: sorted ?? parts.flatMap(({ items }) => items),
    resourceVersion: parts.map(({ version }) => version).join(between),
    ...(next.every(isVersion) ? {} : { continue: next.join(between) }),
  }
}

/** Before every object. */
function beforeAll(order: ListOrder): Position {
  return { namespace: '', name: '', created: order === '-created' ? '\uffff' : '' }
}

/** Before every key. */
function beginAt(version: string) {
  return { after: beforeAll('name'), snapshot: Number(version) }
}

/** Where the watch of each store starts. */
function splitVersion(stores: Store[], version: string): string[] {
  const versions = version.split(between)
  if (!versions.every(isVersion)) {
    throw new SvcError('InvalidRequest', `resourceVersion "${version}" did not come from this service`)
  }
  if (versions.length === stores.length) return versions
  // The version of one object says nothing about other namespaces; the list of served ones may have changed too.
  throw new SvcError('Expired', 'this resourceVersion is not one of all namespaces that are served: list again')
}

/** Watches one namespace, or all; a single one resumes from a version of all as well as from its own. */
function watchStores<K extends Kind>(
  stores: Store[],
  kind: K,
  { namespace: only, resourceVersion, signal }: WatchOptions,
): AsyncIterable<WatchEvent<ResourceOf<K>>> {
  const isOfAll = resourceVersion !== undefined && (only === undefined || !isVersion(resourceVersion))
  const versions = isOfAll ? splitVersion(stores, resourceVersion) : stores.map(() => resourceVersion)
  return mergeStreams(signal, (inner) =>
    stores.flatMap(({ namespace, resources }, index) => {
      if (only !== undefined && namespace !== only) return []
      const version = versions[index]
      const from = version === undefined ? {} : { resourceVersion: version }
      return [resources.watch(kind, { namespace, signal: inner, ...from })]
    }),
  )
}

async function openStores(options: KubernetesResourcesOptions, namespaces: readonly string[]): Promise<Store[]> {
  const open = async (namespace: string) => ({
    namespace,
    resources: await createKubernetesResources({ ...options, namespace }),
  })
  const opened = await Promise.allSettled(namespaces.toSorted().map(open))
  const stores = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const failed = opened.find((each) => each.status === 'rejected')
  if (failed === undefined) return stores
  await Promise.all(stores.map(({ resources }) => resources.close()))
  throw failed.reason
}

function joinStores(stores: Store[]): KubernetesResources {
  const byName = new Map(stores.map(({ namespace, resources }) => [namespace, resources]))

  function within(namespace: string): KubernetesResources {
    const found = byName.get(namespace)
    if (found !== undefined) return found
    throw new SvcError('Forbidden', `namespace not allowed: "${namespace}" is not served here`)
  }

  const list: Resources['list'] = <K extends Kind>(kind: K, query: ResourceQuery) =>
    query.namespace === undefined
      ? listAll<ResourceOf<K>>(stores, kind, query, (resources, own) => resources.list(kind, own))
      : within(query.namespace).list(kind, query)

  return {
    get: async (kind, key, options) => within(key.namespace).get(kind, key, options),
    getText: async (kind, key) => within(key.namespace).getText(kind, key),
    list: async (kind, query) => list(kind, query),
    listText: async (kind, query) =>
      query.namespace === undefined
        ? listAll(stores, kind, query, (resources, own) => resources.listText(kind, own))
        : within(query.namespace).listText(kind, query),
    async namespacesOf(kind) {
      const namespaces = await Promise.all(stores.map(({ resources }) => resources.namespacesOf(kind)))
      return namespaces.flat().sort()
    },
    async countBy(kind, field) {
      checkFields(kind, { [field]: '' })
      const sums: Record<string, number> = {}
      for (const { resources } of stores) {
        const counts = await resources.countBy(kind, field)
        for (const [value, count] of Object.entries(counts)) sums[value] = (sums[value] ?? 0) + count
      }
      return sums
    },
    async tallyTasks(name, query) {
      return (await Promise.all(stores.map(({ resources }) => resources.tallyTasks(name, query)))).flat()
    },
    async *watch(kind, options) {
      if (options.namespace !== undefined) within(options.namespace)
      yield* watchStores(stores, kind, options)
    },
    watchText(options) {
      for (const namespace of options.namespaces ?? []) within(namespace)
      const sources = options.kinds.flatMap((kind) => stores.map(({ resources }) => resources.sourceOf(kind)))
      return createTextWatch(sources, options)
    },
    create: async (kind, draft) => within(draft.metadata.namespace).create(kind, draft),
    update: async (kind, object) => within(object.metadata.namespace).update(kind, object),
    updateStatus: async (kind, object) => within(object.metadata.namespace).updateStatus(kind, object),
    remove: async (kind, key, preconditions) => within(key.namespace).remove(kind, key, preconditions),
    listStale: () => kindNames.filter((kind) => stores.some(({ resources }) => resources.listStale().includes(kind))),
    close: async () => {
      await Promise.all(stores.map(({ resources }) => resources.close()))
    },
  }
}

/**
 * Like `createKubernetesResources`, over these namespaces; empty: all. Forbidden when the service may not read one
 * of them, and for every other namespace.
 */
export async function openServedResources(
  options: Omit<KubernetesResourcesOptions, 'namespace'> & { namespaces: readonly string[] },
): Promise<KubernetesResources> {
  const { namespaces, ...rest } = options
  if (namespaces.length === 0) return createKubernetesResources(rest)
  return joinStores(await openStores(rest, namespaces))
}
