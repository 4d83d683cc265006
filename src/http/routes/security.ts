// Repository security scans: runs, slices, dropped findings, threat models and findings.
import * as findingRoutes from '../../contract/api/security/finding-routes.ts'
import * as routes from '../../contract/api/security/routes.ts'
import { SvcError } from '../../errors.ts'
import type { PagePlace, PageQuery, RecordPage } from '../../ports/scans.ts'
import type { Bind } from '../bind.ts'
import type { RouteContext } from './context.ts'
import { makeCursor, readTextCursor, wrapPage } from './paging.ts'
import { bindCreate, bindDelete, bindGet, bindUpdate, bindWholeList } from './resources.ts'

type CursorQuery = { limit: number; cursor?: string | undefined; continue?: string | undefined }

function refuseTwo(): SvcError {
  const message = 'is another cursor than continue: give one of the two'
  return new SvcError('InvalidRequest', `invalid request: cursor ${message}`, {
    details: [{ path: 'cursor', message }],
  })
}

/** `cursor` and `continue` are the same; the cursor of another list is refused. */
function readPage<Q extends CursorQuery>(sort: string, { cursor, continue: next, ...query }: Q) {
  if (cursor !== undefined && next !== undefined && cursor !== next) throw refuseTwo()
  const [, order, id] = readTextCursor(sort, cursor ?? next, /^([^\0]*)\0([^\0]*)$/) ?? []
  const after: PagePlace | undefined = order === undefined || id === undefined ? undefined : { order, id }
  return { ...query, after } as Omit<Q, 'cursor' | 'continue'> & PageQuery
}

function wrapRecords<T>(sort: string, { items, next }: RecordPage<T>) {
  const page = next === undefined ? { items } : { items, continue: makeCursor(sort, `${next.order}\0${next.id}`) }
  return { json: wrapPage(page, (item) => item) }
}

function bindRuns(bind: Bind, { usecases: { scans } }: RouteContext): void {
  bind(routes.listScanRuns, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('run', await scans.listRuns(caller, key, readPage('run', query)))
  })
  bind(routes.startScanRun, async ({ caller, namespace, params, body }) => {
    return { json: await scans.startRun(caller, { namespace, name: params.name }, body ?? { retryFailed: false }) }
  })
  bind(routes.getThreatModel, async ({ caller, namespace, params }) => {
    return { json: await scans.getThreatModel(caller, { namespace, name: params.name }) }
  })
  bind(routes.updateThreatModel, async ({ caller, namespace, params, body }) => {
    return { json: await scans.saveThreatModel(caller, { namespace, name: params.name }, body) }
  })
}

function bindLists(bind: Bind, { usecases: { scans } }: RouteContext): void {
  bind(routes.listReviewSlices, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('slice', await scans.listSlices(caller, key, readPage('slice', query)))
  })
  bind(routes.getReviewSlice, async ({ caller, namespace, params }) => {
    return { json: await scans.getSlice(caller, { namespace, name: params.name }, params.sliceID) }
  })
  bind(routes.listDroppedFindings, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('dropped', await scans.listDropped(caller, key, readPage('dropped', query)))
  })
  bind(routes.listFindings, async ({ caller, namespace, params, query }) => {
    const sort = query.recommended ? 'recommended' : 'finding'
    const key = { namespace, name: params.name }
    return wrapRecords(sort, await scans.listFindings(caller, key, readPage(sort, query)))
  })
}

function bindFindings(bind: Bind, { usecases: { findings } }: RouteContext): void {
  bind(findingRoutes.getFinding, async ({ caller, namespace, params }) => {
    return { json: await findings.get(caller, { namespace, id: params.id }) }
  })
  bind(findingRoutes.dismissFinding, async ({ caller, namespace, params, body }) => {
    await findings.dismiss(caller, { namespace, id: params.id }, body)
    return { empty: true }
  })
  bind(findingRoutes.reopenFinding, async ({ caller, namespace, params }) => {
    await findings.reopen(caller, { namespace, id: params.id })
    return { empty: true }
  })
  bind(findingRoutes.validateFinding, async ({ caller, namespace, params }) => {
    return { json: await findings.validate(caller, { namespace, id: params.id }) }
  })
  bind(findingRoutes.patchFinding, async ({ caller, namespace, params }) => {
    return { json: await findings.patch(caller, { namespace, id: params.id }) }
  })
  bind(findingRoutes.listFindingPatches, async ({ caller, namespace, params }) => {
    return { json: { items: await findings.listPatches(caller, { namespace, id: params.id }) } }
  })
  bind(findingRoutes.createFindingPullRequest, async ({ caller, namespace, params }) => {
    return { json: await findings.openPullRequest(caller, { namespace, id: params.id }) }
  })
}

export function bindSecurity(bind: Bind, context: RouteContext): void {
  bindCreate(bind, context, 'RepositoryScan', routes.createRepositoryScan)
  bindWholeList(bind, context, 'RepositoryScan', routes.listRepositoryScans)
  bindGet(bind, context, 'RepositoryScan', routes.getRepositoryScan)
  bindUpdate(bind, context, 'RepositoryScan', routes.updateRepositoryScan)
  bindDelete(bind, context, 'RepositoryScan', routes.deleteRepositoryScan)
  bindRuns(bind, context)
  bindLists(bind, context)
  bindFindings(bind, context)
}
