// Findings as SARIF: out of a scan, and from other scanners into it.
import { SvcError } from '../../errors.ts'
import { listEachFinding } from '../../lookup/scans.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { PageQuery, RecordPage, ScanImport } from '../../ports/scans/scans.ts'
import { callerKey, identifyCaller } from '../../rules/identity/caller-identity.ts'
import { writeSarif } from '../../rules/scans/sarif-export.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { type LogUpload, readLog } from './log-reading.ts'
import { findScan, keyOfScan } from './scan-access.ts'

/** Read once the caller may import. */
export type SarifUpload = LogUpload & { commit?: string | undefined }

export type SarifUsecases = {
  /** NotFound. The log in pieces. */
  exportSarif(caller: Caller, key: ResourceKey): Promise<AsyncIterable<string>>
  /** NotFound; InvalidRequest for what is no SARIF; Conflict while another import is under way. */
  importSarif(caller: Caller, key: ResourceKey, upload: SarifUpload): Promise<ScanImport>
  listImports(caller: Caller, key: ResourceKey, page: PageQuery): Promise<RecordPage<ScanImport>>
  getImport(caller: Caller, key: ResourceKey, id: string): Promise<ScanImport>
}

export function createSarifUsecases(deps: UsecaseDeps): SarifUsecases {
  const { ports } = deps
  const { findings, scanImports } = ports.records
  const readUid = async (caller: Caller, key: ResourceKey) => (await findScan(deps, caller, key, 'get')).metadata.uid
  return {
    async exportSarif(caller, key) {
      const { metadata, spec, status } = await findScan(deps, caller, key, 'get')
      const { branch, lastProcessedCommit: commit } = status ?? {}
      const source = { scan: key.name, repoURL: spec.repoURL, branch, commit }
      return writeSarif(listEachFinding(findings, metadata.uid), source)
    },
    async importSarif(caller, key, { commit, ...upload }) {
      const scan = await findScan(deps, caller, key, 'update')
      const log = await readLog(callerKey(identifyCaller(caller)), upload)
      if ('fault' in log) throw new SvcError('InvalidRequest', `invalid SARIF: ${log.fault}`)
      const { tools, resultCount, skipped, content } = log
      return scanImports.startImport(keyOfScan(scan), {
        id: `import_${ports.ids.hex(12)}`,
        tools,
        resultCount,
        skippedResults: Object.values(skipped).reduce((sum, count) => sum + count, 0),
        skippedReasons: skipped,
        commitSHA: commit ?? log.commit,
        createdBy: identifyCaller(caller).name,
        content,
      })
    },
    listImports: async (caller, key, page) => scanImports.listImports(await readUid(caller, key), page),
    async getImport(caller, key, id) {
      const found = await scanImports.getImport(await readUid(caller, key), id)
      if (found !== undefined) return found
      throw new SvcError('NotFound', `import not found: "${id}" of repository scan "${key.name}"`)
    },
  }
}
