// Pages and cursors of lists.
import type { ListBody, ListMetadata } from '../contract/api/resources/list.ts'
import type { Kind } from '../contract/kinds/index.ts'
import { summarizeText } from '../contract/schema/summary.ts'
import { SvcError } from '../errors.ts'
import type { ResourceText } from '../ports/resources/resources.ts'
import type { PageCursor, PageQuery, RecordPage } from '../ports/scans/scans.ts'
import { tagOfText } from './middleware/conditional.ts'

type Page<T> = { items: T[]; continue?: string; remainingItemCount?: number }

function describePage(page: Page<unknown>): ListMetadata {
  return { continue: page.continue, remainingItemCount: page.remainingItemCount }
}

/** One more is read than is shown, so that the last page says that it is the last. */
export async function readPageOf<T>(
  { limit, cursorOf }: { limit: number; cursorOf: (item: T) => string },
  read: (limit: number) => Promise<T[]>,
): Promise<{ items: T[]; continue?: string }> {
  const found = await read(limit + 1)
  const items = found.slice(0, limit)
  const last = items.at(-1)
  return { items, ...(found.length > limit && last !== undefined && { continue: cursorOf(last) }) }
}

/** The envelope of every list (HTTP-020). */
export function wrapPage<T, U>(page: Page<T>, present: (item: T) => U): ListBody<U> {
  return { items: page.items.map(present), metadata: describePage(page) }
}

/**
 * The same for objects that are already serialized. Their versions make the tag: each stands for one state of one
 * object.
 */
export function answerTextPage(page: Page<ResourceText>): { jsonText: string; tag: string } {
  const metadata = JSON.stringify(describePage(page))
  const items = page.items.map((item) => item.text).join(',')
  const versions = page.items.map((item) => item.resourceVersion).join(',')
  return { jsonText: `{"items":[${items}],"metadata":${metadata}}`, tag: tagOfText(`${versions} ${metadata}`) }
}

/** The page as it is asked for. */
export function viewPage(
  kind: Kind,
  page: Page<ResourceText>,
  { view }: { view: 'full' | 'summary' },
): Page<ResourceText> {
  if (view === 'full') return page
  return { ...page, items: page.items.map((item) => ({ ...item, text: summarizeText(kind, item.text) })) }
}

/** A cursor that names the last entry on the page; opaque to clients. */
export function makeCursor(sort: string, last: string): string {
  return Buffer.from(`${sort}:${last}`).toString('base64url')
}

function refuseCursor(): SvcError {
  const message = 'is not a cursor of this list; take it from metadata.continue of the page before'
  const details = [{ path: 'continue', message }]
  return new SvcError('InvalidRequest', `invalid request: continue ${message}`, { details })
}

/** The entry that a cursor names; InvalidRequest when it is not a cursor of this list. */
function readCursor(sort: string, cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const last = text.slice(sort.length + 1)
  if (!text.startsWith(`${sort}:`) || makeCursor(sort, last) !== cursor) throw refuseCursor()
  return last
}

/** The parts of a cursor of this form. */
export function readTextCursor(sort: string, cursor: string | undefined, shape: RegExp): string[] | undefined {
  const last = readCursor(sort, cursor)
  const parts = last === undefined ? undefined : shape.exec(last)
  if (parts === null) throw refuseCursor()
  return parts
}

/** The same for a list of numbered entries. */
export function readNumberCursor(sort: string, cursor: string | undefined): number | undefined {
  const last = readCursor(sort, cursor)
  if (last !== undefined && !/^\d{1,15}$/.test(last)) throw refuseCursor()
  return last === undefined ? undefined : Number(last)
}

/** The list that a cursor is of, and the number of an entry. */
export type Numbered<T> = { cursor: string; numberOf: (item: T) => number }

/** One page of a list that is numbered, newest first. */
export function readNumbered<T>(
  { cursor, numberOf }: Numbered<T>,
  { limit, continue: after }: { limit: number; continue?: string | undefined },
  read: (page: { limit: number; before: number | undefined }) => Promise<T[]>,
) {
  const before = readNumberCursor(cursor, after)
  const cursorOf = (item: T) => makeCursor(cursor, String(numberOf(item)))
  return readPageOf({ limit, cursorOf }, (count) => read({ limit: count, before }))
}

/** Where a list looks; undefined: everywhere that the caller may. */
export function namedNamespace({ namespace }: { namespace: string }): string | undefined {
  return namespace === '' ? undefined : namespace
}

type Listed = { namespace: string; name: string; createdAt: string }
type Order = 'name' | 'created' | '-created'

/** Sorts as the order of the list does; NUL comes before everything that names and times have. */
const keys: Record<Order, (item: Listed) => string> = {
  name: ({ namespace, name }) => `${namespace}\0${name}`,
  created: ({ namespace, name, createdAt }) => `${createdAt}\0${namespace}\0${name}`,
  '-created': ({ namespace, name, createdAt }) => `${createdAt}\0${namespace}\0${name}`,
}

/** One page of a list that is known whole. */
export function pageOf<T extends Listed>(
  items: readonly T[],
  query: { limit: number; continue?: string | undefined; sort: Order },
): Page<T> {
  const { limit, sort } = query
  const last = readCursor(sort, query.continue)
  const turn = sort === '-created' ? -1 : 1
  const compare = (one: string, other: string) => (one === other ? 0 : one < other ? -turn : turn)
  const rest = items
    .map((item) => ({ item, key: keys[sort](item) }))
    .filter(({ key }) => last === undefined || compare(key, last) > 0)
    .sort((one, other) => compare(one.key, other.key))
  const page = rest.slice(0, limit)
  const end = page.at(-1)
  const left = rest.length - page.length
  const shown = page.map(({ item }) => item)
  if (left === 0 || end === undefined) return { items: shown }
  return { items: shown, continue: makeCursor(sort, end.key), remainingItemCount: left }
}

type CursorQuery = { limit: number; cursor?: string | undefined; continue?: string | undefined }

function refuseTwo(): SvcError {
  const message = 'is another cursor than continue: give one of the two'
  return new SvcError('InvalidRequest', `invalid request: cursor ${message}`, {
    details: [{ path: 'cursor', message }],
  })
}

/** `cursor` and `continue` are the same; the cursor of another list is refused. */
export function readRecordPage<Q extends CursorQuery>(sort: string, { cursor, continue: next, ...query }: Q) {
  if (cursor !== undefined && next !== undefined && cursor !== next) throw refuseTwo()
  const [, order, id] = readTextCursor(sort, cursor ?? next, /^([^\0]*)\0([^\0]*)$/) ?? []
  const after: PageCursor | undefined = order === undefined || id === undefined ? undefined : { order, id }
  return { ...query, after } as Omit<Q, 'cursor' | 'continue'> & PageQuery
}

export function wrapRecords<T>(sort: string, { items, next }: RecordPage<T>) {
  const page = next === undefined ? { items } : { items, continue: makeCursor(sort, `${next.order}\0${next.id}`) }
  return { json: wrapPage(page, (item) => item) }
}
