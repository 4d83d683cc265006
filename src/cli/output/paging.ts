// Lists over the pages that are shown.
import type { Client } from '../../client/client.ts'
import type { ListBody } from '../../contract/api/resources/list.ts'
import type { Route } from '../../contract/api/resources/route.ts'

const pageSize = 500

export type Listed<T> = { items: T[]; hasMore: boolean }

export type PagingOptions = {
  query: Record<string, string | number | boolean | undefined>
  params?: Record<string, string>
  /** Absent: everything. */
  limit?: number
}

/** Requests page after page until there are `limit` items or no more. */
export async function listPages<T>(client: Client, route: Route, options: PagingOptions): Promise<Listed<T>> {
  const { query, params, limit = Number.POSITIVE_INFINITY } = options
  const items: T[] = []
  let next: string | undefined
  do {
    const page = (await client.call(route, {
      query: { ...query, limit: Math.min(pageSize, limit - items.length), continue: next },
      ...(params ? { params } : {}),
    })) as unknown as ListBody<T>
    items.push(...page.items)
    next = page.metadata.continue
    if (items.length >= limit) return { items, hasMore: next !== undefined }
  } while (next !== undefined)
  return { items, hasMore: false }
}

/** The newest `limit`, newest first. */
export function listNewest<T>(client: Client, route: Route, options: PagingOptions): Promise<Listed<T>> {
  return listPages(client, route, { ...options, query: { ...options.query, sort: '-created' } })
}
