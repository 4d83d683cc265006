// The audit log, for administrators.

import { listAudit } from '../../../contract/api/identity/audit.ts'
import type { RouteQuery } from '../../../contract/api/resources/route.ts'
import { dropUndefined } from '../../../lib/json.ts'
import type { AuditQuery, AuditRecord } from '../../../ports/identity/audit.ts'
import type { Bind } from '../../bind.ts'
import { makeCursor, readPageOf, readTextCursor, wrapPage } from '../../paging.ts'
import type { RouteContext } from '../../route-context.ts'

const sort = 'audit'
const cursorShape = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (\S{1,128})$/

function writeCursor({ createdAt, id }: AuditRecord): string {
  return makeCursor(sort, `${createdAt} ${id}`)
}

function readBefore(cursor: string | undefined): { before?: { createdAt: string; id: string } } {
  const [, createdAt, id] = readTextCursor(sort, cursor, cursorShape) ?? []
  return createdAt === undefined || id === undefined ? {} : { before: { createdAt, id } }
}

type Filters = RouteQuery<typeof listAudit>

function readFilters({ limit: _limit, continue: cursor, since, until, ...rest }: Filters): Omit<AuditQuery, 'limit'> {
  return {
    ...dropUndefined(rest),
    ...(since === undefined ? {} : { since: new Date(since) }),
    ...(until === undefined ? {} : { until: new Date(until) }),
    ...readBefore(cursor),
  }
}

export function bindAudit(bind: Bind, { usecases }: RouteContext): void {
  bind(listAudit, async ({ caller, query }) => {
    const page = await readPageOf({ limit: query.limit, cursorOf: writeCursor }, (limit) =>
      usecases.audit.list(caller, { ...readFilters(query), limit }),
    )
    return { json: wrapPage(page, (record) => record) }
  })
}
