// Repository security scans: runs, slices, dropped findings, threat models and findings.
import { Readable } from 'node:stream'
import * as findingRoutes from '../../../contract/api/scans/findings.ts'
import * as routes from '../../../contract/api/scans/routes.ts'
import * as sarifRoutes from '../../../contract/api/scans/sarif-routes.ts'
import type { Bind } from '../../bind.ts'
import type { RouteContext } from '../../deps.ts'
import { watchClient } from '../../event-stream.ts'
import { readRecordPage, wrapRecords } from '../../paging.ts'
import { readUpload } from '../../upload.ts'
import { bindCreate, bindDelete, bindGet, bindUpdate, bindWholeList } from '../resources/resources.ts'

function bindRuns(bind: Bind, { usecases: { scans } }: RouteContext): void {
  bind(routes.listScanRuns, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('run', await scans.listRuns(caller, key, readRecordPage('run', query)))
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
    return wrapRecords('slice', await scans.listSlices(caller, key, readRecordPage('slice', query)))
  })
  bind(routes.getReviewSlice, async ({ caller, namespace, params }) => {
    return { json: await scans.getSlice(caller, { namespace, name: params.name }, params.sliceID) }
  })
  bind(routes.listDroppedFindings, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('dropped', await scans.listDropped(caller, key, readRecordPage('dropped', query)))
  })
  bind(routes.listFindings, async ({ caller, namespace, params, query }) => {
    const sort = query.recommended ? 'recommended' : 'finding'
    const key = { namespace, name: params.name }
    return wrapRecords(sort, await scans.listFindings(caller, key, readRecordPage(sort, query)))
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
  bindSarif(bind, context)
}

export function bindSarif(bind: Bind, { usecases: { sarif } }: RouteContext): void {
  bind(sarifRoutes.exportFindings, async ({ caller, namespace, params }) => {
    const log = await sarif.exportSarif(caller, { namespace, name: params.name })
    return { stream: Readable.from(log, { objectMode: false }), contentType: sarifRoutes.sarifType }
  })
  bind(sarifRoutes.listScanImports, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('import', await sarif.listImports(caller, key, readRecordPage('import', query)))
  })
  bind(sarifRoutes.getScanImport, async ({ caller, namespace, params }) => {
    return { json: await sarif.getImport(caller, { namespace, name: params.name }, params.importID) }
  })
}

/** The route's body is streamed. */
export function bindSarifImport(bind: Bind, { usecases: { sarif } }: Pick<RouteContext, 'usecases'>): void {
  bind(sarifRoutes.importFindings, async ({ caller, namespace, params, query, request }) => {
    const read = async () => {
      const chunks: Buffer[] = []
      for await (const chunk of readUpload(request, sarifRoutes.maxSarifBytes).body) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    }
    const client = watchClient(request)
    try {
      const upload = { ...query, read, signal: client.signal }
      return { json: await sarif.importSarif(caller, { namespace, name: params.name }, upload) }
    } finally {
      client.release()
    }
  })
}
