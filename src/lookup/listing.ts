// Everything that a query finds, read in pages, so that however many there are only one page is in memory.
import type { Kind, ResourceOf } from '../contract/kinds/index.ts'
import type { ResourceQuery, ResourceReader } from '../ports/resources/resources.ts'

const pageSize = 200

/** Each object as it was when the first page was read; where the store has forgotten that moment, as it is when its page is read. */
export async function* listEach<K extends Kind>(
  resources: Pick<ResourceReader, 'list'>,
  kind: K,
  query: Omit<ResourceQuery, 'limit' | 'continue'>,
): AsyncGenerator<ResourceOf<K>> {
  let next: string | undefined
  do {
    const page = await resources.list(kind, { ...query, limit: pageSize, ...(next && { continue: next }) })
    yield* page.items
    next = page.continue
  } while (next !== undefined)
}
