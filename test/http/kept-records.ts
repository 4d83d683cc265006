// A monitor and a scan of a repository that have seen something: records for tests of lists.
import { makeSlice } from '../contracts/scans.contract.ts'
import type { Service } from './service.ts'

const repoURL = 'https://github.com/acme/widgets'
const sha = 'a'.repeat(40)
const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

async function makeObject(service: Service, kind: 'RepositoryMonitor' | 'RepositoryScan', namespace: string) {
  const who = kind === 'RepositoryScan' ? { analysisAgentRef: { name: 'a' } } : { agents: { reviewer: { name: 'a' } } }
  const draft = { metadata: { namespace, name: 'n1' }, spec: { repoURL, ...who } }
  const { uid } = (await service.ports.resources.create(kind, draft as never)).metadata
  return { uid, namespace, name: 'n1' }
}

/** A monitor `n1` with `count` runs, items, reviews and events. */
export async function keepMonitor(service: Service, namespace: string, count: number): Promise<void> {
  const monitor = await makeObject(service, 'RepositoryMonitor', namespace)
  const { monitors } = service.ports.records
  const now = new Date().toISOString()
  const about = { kind: 'pull_request' as const, labels: [], updatedAt: now, lastSeenAt: now }
  for (const number of numbers(count)) {
    const runID = `run-${number}`
    await monitors.queueRun(monitor, { id: runID, trigger: 'manual' }, { runID, eventType: 'run_queued' })
    await monitors.takeRun(monitor)
    await monitors.changeRun(monitor, runID, { phase: 'succeeded' })
    await monitors.putItem(monitor, { ...about, itemKey: String(number), number, state: 'open' })
    const review = {
      id: `review-${number}`,
      kind: about.kind,
      number,
      headSHA: sha,
      runID,
      taskName: 't',
      createdAt: now,
    }
    const said = { verdict: 'passed' as const, securityStatus: 'clear', summary: 's', findings: [] }
    const validation = { status: 'skipped', commands: [] } as never
    await monitors.addReview(monitor, { ...review, ...said, validation }, [])
  }
}

/** A scan `n1` with `count` runs, slices, findings and dropped findings. */
export async function keepScan(service: Service, namespace: string, count: number): Promise<void> {
  const scan = await makeObject(service, 'RepositoryScan', namespace)
  const { scans, findings } = service.ports.records
  const slices = numbers(count).map((number) => ({ ...makeSlice(`slice-${number}`), status: 'pending' as const }))
  for (const number of numbers(count)) {
    const run = `scan_${number}`
    await scans.startRun(scan, { id: run, mode: 'manual' })
    await scans.cutSlices(scan, run, slices)
    const words = { title: run, summary: 's', category: 'c', filePath: 's.go', line: number, evidence: [] }
    const accepted = [{ fingerprint: run, ...words, severity: 'high', confidence: 'high' } as const]
    const dropped = [{ id: `drop_fnd_${number}`, layer: 'filter', reason: 'r' } as never]
    const review = { run, slice: 'slice-1', taskName: 't', covered: [], accepted, dropped, origin: {} }
    await findings.recordReview(scan, review)
    await scans.changeRun(scan.uid, run, { phase: 'succeeded' })
  }
}
