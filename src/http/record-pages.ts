// Pages of records, whose cursors are a place in an order and an id.
import { SvcError } from '../errors.ts'
import type { PageCursor, PageQuery, RecordPage } from '../ports/scans/scans.ts'
import { makeCursor, readTextCursor, wrapPage } from './paging.ts'

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
