// Findings as SARIF, out and in.
import { Readable } from 'node:stream'
import * as routes from '../../../contract/api/scans/sarif-routes.ts'
import type { Bind } from '../../bind.ts'
import { readRecordPage, wrapRecords } from '../../record-pages.ts'
import type { RouteContext } from '../../route-context.ts'
import { readUpload } from '../../upload.ts'

export function bindSarif(bind: Bind, { usecases: { sarif } }: RouteContext): void {
  bind(routes.exportFindings, async ({ caller, namespace, params }) => {
    const log = await sarif.exportSarif(caller, { namespace, name: params.name })
    return { stream: Readable.from(log, { objectMode: false }), contentType: routes.sarifType }
  })
  bind(routes.listScanImports, async ({ caller, namespace, params, query }) => {
    const key = { namespace, name: params.name }
    return wrapRecords('import', await sarif.listImports(caller, key, readRecordPage('import', query)))
  })
  bind(routes.getScanImport, async ({ caller, namespace, params }) => {
    return { json: await sarif.getImport(caller, { namespace, name: params.name }, params.importID) }
  })
}

/** The route's body is streamed. */
export function bindSarifImport(bind: Bind, { usecases: { sarif } }: Pick<RouteContext, 'usecases'>): void {
  bind(routes.importFindings, async ({ caller, namespace, params, query, request }) => {
    const read = async () => {
      const chunks: Buffer[] = []
      for await (const chunk of readUpload(request, routes.largestSarif).body) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    }
    const { commit, root } = query
    return { json: await sarif.importSarif(caller, { namespace, name: params.name }, { commit, root, read }) }
  })
}
