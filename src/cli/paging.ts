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

/** Asks for page after page until there are `limit` items or no more. */
export async function listPages<T>(client: Client, route: Route, options: PagingOptions): Promise<Listed<T>> {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  const items: T[] = []
  let next: string | undefined
  do {
    const query = { ...options.query, limit: Math.min(pageSize, limit - items.length), continue: next }
    const page = (await client.call(route, {
      query,
      ...(options.params ? { params: options.params } : {}),
    })) as unknown as ListBody<T>
    items.push(...page.items)
    next = page.metadata.continue
  } while (next !== undefined && items.length < limit)
  return { items, hasMore: next !== undefined }
}
