// Runs of repository scans, their slices, what was dropped, and threat models, for people.
import type { ScanRequest, ThreatModelUpdate } from '../../contract/api/scans/routes.ts'
import { SvcError } from '../../errors.ts'
import { readPolicies } from '../../lookup/scans.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Finding, FindingFilter } from '../../ports/scans/findings.ts'
import type {
  DroppedFilter,
  DroppedFinding,
  PageQuery,
  RecordPage,
  ReviewSlice,
  ScanRun,
  ThreatModel,
} from '../../ports/scans/scans.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { findScan, keyOfScan } from './scan-access.ts'

type SliceQuery = PageQuery & { status?: ReviewSlice['status'] | undefined }
/** `reason`: exactly, or `contains=` and a part of it. */
type DroppedQuery = PageQuery & Omit<DroppedFilter, 'reasonPart'>

export type ScanUsecases = {
  listRuns(caller: Caller, key: ResourceKey, page: PageQuery): Promise<RecordPage<ScanRun>>
  /** Conflict while a run is active, or there is nothing to review again; InvalidRequest for a policy. */
  startRun(caller: Caller, key: ResourceKey, request: ScanRequest): Promise<ScanRun>
  listSlices(caller: Caller, key: ResourceKey, query: SliceQuery): Promise<RecordPage<ReviewSlice>>
  getSlice(caller: Caller, key: ResourceKey, id: string): Promise<ReviewSlice>
  listDropped(caller: Caller, key: ResourceKey, query: DroppedQuery): Promise<RecordPage<DroppedFinding>>
  listFindings(caller: Caller, key: ResourceKey, query: PageQuery & FindingFilter): Promise<RecordPage<Finding>>
  getThreatModel(caller: Caller, key: ResourceKey): Promise<ThreatModel>
  saveThreatModel(caller: Caller, key: ResourceKey, body: ThreatModelUpdate): Promise<ThreatModel>
}

const partMark = 'contains='

function readReason(reason: string | undefined): Pick<DroppedFilter, 'reason' | 'reasonPart'> {
  return reason?.startsWith(partMark) ? { reasonPart: reason.slice(partMark.length) } : { reason }
}

/** The last run, when some of its slices can be reviewed again. */
async function findRetried({ ports }: UsecaseDeps, uid: string): Promise<ScanRun> {
  const { scans } = ports.records
  const [last] = (await scans.listRuns(uid, { limit: 1 })).items
  if (last === undefined) throw new SvcError('Conflict', 'there is no run to retry: start one without retryFailed')
  if (last.phase === 'pending' || last.phase === 'running')
    throw new SvcError('Conflict', `run "${last.id}" is ${last.phase}: wait until it has ended`)
  const left = await Promise.all(
    (['failed', 'pending'] as const).map((status) => scans.listSlices(uid, { limit: 1, status })),
  )
  if (last.headCommit === undefined || left.every(({ items }) => items.length === 0))
    throw new SvcError('Conflict', `run "${last.id}" left no slice to review: it is ${last.phase}`)
  return last
}

export function createScanUsecases(deps: UsecaseDeps): ScanUsecases {
  const { ports } = deps
  const { scans, findings } = ports.records
  const read = async (caller: Caller, key: ResourceKey) => (await findScan(deps, caller, key, 'get')).metadata.uid
  return {
    listRuns: async (caller, key, page) => scans.listRuns(await read(caller, key), page),
    async startRun(caller, key, { retryFailed }) {
      const scan = await findScan(deps, caller, key, 'update')
      const { digest } = await readPolicies(ports.configMaps, key.namespace, scan.spec)
      const retried = retryFailed ? await findRetried(deps, scan.metadata.uid) : undefined
      const run = { id: `scan_${ports.ids.hex(12)}`, mode: 'manual', policyDigest: digest } as const
      const { lastProcessedCommit: baseCommit } = scan.status ?? {}
      if (retried === undefined) return scans.startRun(keyOfScan(scan), { ...run, baseCommit })
      const { id, headCommit, baseCommit: base } = retried
      return scans.startRun(keyOfScan(scan), { ...run, baseCommit: base, headCommit, retryOf: id })
    },
    listSlices: async (caller, key, query) => scans.listSlices(await read(caller, key), query),
    async getSlice(caller, key, id) {
      const slice = await scans.getSlice(await read(caller, key), id)
      if (slice !== undefined) return slice
      throw new SvcError('NotFound', `review slice not found: "${id}" of repository scan "${key.name}"`)
    },
    listDropped: async (caller, key, { reason, ...query }) =>
      scans.listDropped(await read(caller, key), { ...query, ...readReason(reason) }),
    listFindings: async (caller, key, query) => findings.list(await read(caller, key), query),
    async getThreatModel(caller, key) {
      const model = await scans.getThreatModel(await read(caller, key))
      if (model !== undefined) return model
      const advice = 'the first run writes one; or write it yourself'
      throw new SvcError('NotFound', `threat model not found: repository scan "${key.name}" has none yet; ${advice}`)
    },
    async saveThreatModel(caller, key, { content, source }) {
      const scan = await findScan(deps, caller, key, 'update')
      return scans.saveThreatModel(keyOfScan(scan), { content, source })
    },
  }
}
