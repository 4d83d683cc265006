// Lists over all their pages.
import type { Client } from '../client/client.ts'
import type { ListBody } from '../contract/api/list.ts'
import type { Route } from '../contract/api/route.ts'

const pageSize = 500

export type Listed<T> = { items: T[]; hasMore: boolean }

export type PagingOptions = {
  query: Record<string, string | number | undefined>
  params?: Record<string, string>
  /** Absent: everything there is. */
  limit?: number
}

type PagedQuery = Omit<PagingOptions, 'limit'>

/** Asks for page after page; `next` tells whether more follow, and the size of the page after it. */
async function* readPages<T>(client: Client, route: Route, { query, params }: PagedQuery, sizeOf: () => number) {
  let next: string | undefined
  do {
    const page = (await client.call(route, {
      query: { ...query, limit: sizeOf(), continue: next },
      ...(params ? { params } : {}),
    })) as unknown as ListBody<T>
    next = page.metadata.continue
    yield { items: page.items, hasMore: next !== undefined }
  } while (next !== undefined)
}

/** Asks for page after page until there are `limit` items or no more. */
export async function listPages<T>(client: Client, route: Route, options: PagingOptions): Promise<Listed<T>> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  const items: T[] = []
  const nextSize = () => Math.min(pageSize, limit - items.length)
  for await (const page of readPages<T>(client, route, options, nextSize)) {
    items.push(...page.items)
    if (items.length >= limit) return { items, hasMore: page.hasMore }
  }
  return { items, hasMore: false }
}

/** The newest `limit`, newest first: of all pages, for the API lists by name. No more than a page beyond them is kept. */
export async function listNewest<T extends object>(
  client: Client,
  route: Route,
  options: PagingOptions,
): Promise<Listed<T>> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  let kept: T[] = []
  let count = 0
  for await (const page of readPages<T>(client, route, options, () => pageSize)) {
    count += page.items.length
    kept.push(...page.items)
    if (kept.length >= limit + pageSize) kept = newestFirst(kept).slice(0, limit)
  }
  return { items: newestFirst(kept).slice(0, limit), hasMore: count > limit }
}

type Dated = { createdAt?: string; metadata?: { creationTimestamp?: string; uid?: string } }

/** By time of creation, then by uid, which the service's own store makes in order of time; what has no time stays ahead. */
function newestFirst<T extends object>(items: T[]): T[] {
  const read = (item: T) => {
    const { createdAt, metadata } = item as Dated
    return { time: metadata?.creationTimestamp ?? createdAt, uid: metadata?.uid ?? '' }
  }
  return items
    .map((item) => ({ item, ...read(item) }))
    .toSorted((a, b) => compare(b.time ?? '~', a.time ?? '~') || compare(b.uid, a.uid))
    .map(({ item }) => item)
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
