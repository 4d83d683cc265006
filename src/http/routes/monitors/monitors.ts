// Monitors of repositories, their runs, and what they have seen and done.
import type { MonitorItem, MonitorRun } from '../../../contract/api/monitors/monitor-records.ts'
import * as routes from '../../../contract/api/monitors/monitors.ts'
import { SvcError } from '../../../errors.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { makeCursor, readPageOf, readTextCursor, wrapPage } from '../../paging.ts'
import { bindCreate, bindDelete, bindGet, bindUpdate, bindWholeList } from '../resources/resources.ts'

type PageQuery = { limit: number; continue?: string | undefined; cursor?: string | undefined }

function chooseCursor(query: PageQuery): string | undefined {
  if (query.continue !== undefined && query.cursor !== undefined && query.continue !== query.cursor) {
    const message = 'differs from continue; give one of the two'
    throw new SvcError('InvalidRequest', `invalid request: cursor ${message}`, {
      details: [{ path: 'cursor', message }],
    })
  }
  return query.continue ?? query.cursor
}

const shape = /^(\d{4}-[0-9T:.-]{1,30}Z) ([A-Za-z0-9._-]{1,200})$/

/** The query without its cursor, and the time and id after which the page begins. */
function readPage<Q extends PageQuery>(sort: string, query: Q) {
  const {
    continue: _continue,
    cursor: _cursor,
    namespace: _namespace,
    ...wanted
  } = query as Q & { namespace?: unknown }
  const [, time, id] = readTextCursor(sort, chooseCursor(query), shape) ?? []
  return { ...wanted, before: time === undefined || id === undefined ? undefined : ([time, id] as const) }
}

async function page<T>(
  { sort, limit, keyOf }: { sort: string; limit: number; keyOf: (item: T) => [string, string] },
  read: (limit: number) => Promise<T[]>,
) {
  const cursorOf = (item: T) => makeCursor(sort, keyOf(item).join(' '))
  return { json: wrapPage(await readPageOf({ limit, cursorOf }, read), (item) => item) }
}

export function bindMonitors(bind: Bind, context: RouteContext): void {
  const { monitors } = context.usecases
  bindCreate(bind, context, 'RepositoryMonitor', routes.createMonitor)
  bindWholeList(bind, context, 'RepositoryMonitor', routes.listMonitors)
  bindGet(bind, context, 'RepositoryMonitor', routes.getMonitor)
  bindUpdate(bind, context, 'RepositoryMonitor', routes.updateMonitor)
  bindDelete(bind, context, 'RepositoryMonitor', routes.deleteMonitor)
  bind.json(routes.createMonitorRun, ({ caller, key, body }) => monitors.createRun(caller, key, body))
  bind(routes.dismissMonitorFinding, async ({ caller, namespace, params, body }) => {
    const { name, number, id } = params
    await monitors.setDismissed(caller, { namespace, name }, { number, id, dismissed: body.dismissed })
    return { empty: true }
  })
  bind.json(routes.publishMonitorReview, ({ caller, key, params }) =>
    monitors.publishReview(caller, key, params.number),
  )
  bindMonitorLists(bind, context)
}

function bindMonitorLists(bind: Bind, { usecases: { monitors } }: RouteContext): void {
  bind(routes.listMonitorRuns, async ({ caller, key, query }) => {
    const wanted = readPage('runs', query)
    return page({ sort: 'runs', limit: query.limit, keyOf: keyOfRun }, (limit) =>
      monitors.listRuns(caller, key, { ...wanted, limit }),
    )
  })
  bind(routes.listMonitorItems, async ({ caller, key, query }) => {
    const wanted = readPage('items', query)
    return page({ sort: 'items', limit: query.limit, keyOf: keyOfItem }, (limit) =>
      monitors.listItems(caller, key, { ...wanted, limit }),
    )
  })
  bind(routes.listMonitorReviews, async ({ caller, key, query }) => {
    const wanted = readPage('reviews', query)
    return page({ sort: 'reviews', limit: query.limit, keyOf: keyByCreation }, (limit) =>
      monitors.listReviews(caller, key, { ...wanted, limit }),
    )
  })
  bind(routes.listMonitorEvents, async ({ caller, namespace, query }) => {
    const { name, ...filters } = query
    const wanted = readPage('events', filters)
    return page({ sort: 'events', limit: query.limit, keyOf: keyByCreation }, (limit) =>
      monitors.listEvents(caller, { namespace, name }, { ...wanted, limit }),
    )
  })
}

const keyOfRun = ({ queuedAt, id }: MonitorRun): [string, string] => [queuedAt, id]
const keyOfItem = ({ updatedAt, itemKey }: MonitorItem): [string, string] => [updatedAt, itemKey]

function keyByCreation({ createdAt, id }: { createdAt: string; id: string }): [string, string] {
  return [createdAt, id]
}
