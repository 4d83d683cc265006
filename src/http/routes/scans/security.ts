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
  bind(routes.listScanRuns, async ({ caller, key, query }) => {
    return wrapRecords('run', await scans.listRuns(caller, key, readRecordPage('run', query)))
  })
  bind.json(routes.startScanRun, ({ caller, key, body }) => scans.startRun(caller, key, body ?? { retryFailed: false }))
  bind.json(routes.getThreatModel, ({ caller, key }) => scans.getThreatModel(caller, key))
  bind.json(routes.updateThreatModel, ({ caller, key, body }) => scans.saveThreatModel(caller, key, body))
}

function bindLists(bind: Bind, { usecases: { scans } }: RouteContext): void {
  bind(routes.listReviewSlices, async ({ caller, key, query }) => {
    return wrapRecords('slice', await scans.listSlices(caller, key, readRecordPage('slice', query)))
  })
  bind.json(routes.getReviewSlice, ({ caller, key, params }) => scans.getSlice(caller, key, params.sliceID))
  bind(routes.listDroppedFindings, async ({ caller, key, query }) => {
    return wrapRecords('dropped', await scans.listDropped(caller, key, readRecordPage('dropped', query)))
  })
  bind(routes.listFindings, async ({ caller, key, query }) => {
    const sort = query.recommended ? 'recommended' : 'finding'
    return wrapRecords(sort, await scans.listFindings(caller, key, readRecordPage(sort, query)))
  })
}

function bindFindings(bind: Bind, { usecases: { findings } }: RouteContext): void {
  bind.json(findingRoutes.getFinding, ({ caller, record }) => findings.get(caller, record))
  bind.empty(findingRoutes.dismissFinding, ({ caller, record, body }) => findings.dismiss(caller, record, body))
  bind.empty(findingRoutes.reopenFinding, ({ caller, record }) => findings.reopen(caller, record))
  bind.json(findingRoutes.validateFinding, ({ caller, record }) => findings.validate(caller, record))
  bind.json(findingRoutes.patchFinding, ({ caller, record }) => findings.patch(caller, record))
  bind.json(findingRoutes.listFindingPatches, async ({ caller, record }) => ({
    items: await findings.listPatches(caller, record),
  }))
  bind.json(findingRoutes.createFindingPullRequest, ({ caller, record }) => findings.openPullRequest(caller, record))
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
  bind(sarifRoutes.exportFindings, async ({ caller, key }) => {
    const log = await sarif.exportSarif(caller, key)
    return { stream: Readable.from(log, { objectMode: false }), contentType: sarifRoutes.sarifType }
  })
  bind(sarifRoutes.listScanImports, async ({ caller, key, query }) => {
    return wrapRecords('import', await sarif.listImports(caller, key, readRecordPage('import', query)))
  })
  bind.json(sarifRoutes.getScanImport, ({ caller, key, params }) => sarif.getImport(caller, key, params.importID))
}

/** The route's body is streamed. */
export function bindSarifImport(bind: Bind, { usecases: { sarif } }: Pick<RouteContext, 'usecases'>): void {
  bind(sarifRoutes.importFindings, async ({ caller, key, query, request }) => {
    const read = async () => {
      const chunks: Buffer[] = []
      for await (const chunk of readUpload(request, sarifRoutes.maxSarifBytes).body) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    }
    const client = watchClient(request)
    try {
      const upload = { ...query, read, signal: client.signal }
      return { json: await sarif.importSarif(caller, key, upload) }
    } finally {
      client.release()
    }
  })
}
