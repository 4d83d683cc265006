// Findings of a scan: 5,000 taken in from a scanner, and pages of a list of 100,000.
import { join } from 'node:path'
import { findingStates, validationStatuses } from '../src/contract/api/scans/findings.ts'
import { confidences, severities } from '../src/contract/kinds/scans/repository-scan.ts'
import { createOutlines } from '../src/git/outlines.ts'
import { systemClock as clock, systemIds as ids } from '../src/lib/system-clock.ts'
import type { Finding, FindingFilter, Findings } from '../src/ports/scans/findings.ts'
import { makeSourceText } from '../src/rules/scans/finding-evidence.ts'
import { decodeSource } from '../src/rules/scans/left-out.ts'
import type { Database } from '../src/store/database/database.ts'
import { openPostgresRecords } from '../src/store/postgres/records.ts'
import { createRecords } from '../src/store/records.ts'
import { writeFindings } from '../src/store/scans/finding-rows.ts'
import { openSqlite } from '../src/store/sqlite/database.ts'
import { postgresMissing, startPostgres } from '../test/fixtures/postgres.ts'
import { ingestSarif } from '../test/fixtures/scans/sarif.ts'
import { percentile, type Row, report, round } from './measure.ts'
import { makeRandom } from './memory-texts.ts'

const findings = Number(process.env.BENCH_FINDINGS ?? 5000)
const listed = Number(process.env.BENCH_LISTED ?? 100_000)
const pages = Number(process.env.BENCH_PAGES ?? 1500)
const pageSize = 50

const scan = { uid: 'u', namespace: 'default', name: 'bench' }

function makeSarif(): string {
  const results = Array.from({ length: findings }, (_, at) => ({
    ruleId: `rule-${at % 50}`,
    message: { text: `Text ${at} reaches a statement of an attacker.` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: `src/f${at % 500}.py` },
          region: { startLine: 2 + Math.floor(at / 500) },
        },
      },
    ],
  }))
  return JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'bench' } }, results }] })
}

/** Each file is parsed, and each finding checked against it. */
async function check(known: Finding[]) {
  const outlines = createOutlines()
  const lines = Array.from({ length: 60 }, (_, line) => `    step_${line}(q + "${line}")`)
  const content = Buffer.from(`def run(q):\n${lines.join('\n')}\n`)
  const readSource = async (path: string) => makeSourceText(content, await outlines.read(path, decodeSource(content)))
  const text = makeSarif()
  const paths = [...new Set([...text.matchAll(/"uri":"([^"]+)"/g)].map(([, path = '']) => path))]
  const ingested = await ingestSarif({ text, paths, run: { id: 'r', taskName: 't' }, known, readSource })
  if ('fault' in ingested) throw new Error(ingested.fault)
  return [...ingested.byTool.values()].flatMap(({ accepted }) => accepted)
}

async function measure<T>(work: () => Promise<T>): Promise<[T, number]> {
  const began = performance.now()
  const value = await work()
  return [value, performance.now() - began]
}

async function measureIngest(store: Findings): Promise<Row[]> {
  const rows: Row[] = []
  let known: Finding[] = []
  for (const what of ['new', 'known']) {
    const [accepted, checked] = await measure(() => check(known))
    const review = { run: what, taskName: 't', covered: [], accepted, dropped: [], origin: {} }
    const [, stored] = await measure(() => store.recordReview(scan, review))
    rows.push({
      what: `${accepted.length} findings, ${what}`,
      'checked ms': round(checked, 0),
      'stored ms': round(stored, 0),
    })
    known = await store.listKnown(scan.uid, [...new Set(accepted.map(({ filePath = '' }) => filePath))])
  }
  return rows
}

type Pick = <T>(from: readonly T[]) => T

/** Most are open, not validated and of middling severity, as in any scan. */
function makeFinding(at: number, pick: Pick): Finding {
  const text = `what an attacker sends reaches statement ${at}, which nothing keeps it from. `
  const updatedAt = new Date(1_700_000_000_000 + at * 1000).toISOString()
  const severity = pick([...severities, 'medium', 'medium', 'low', 'low', 'low'] as const)
  const state = pick([...findingStates, ...Array.from({ length: 12 }, () => 'open' as const)])
  const validationStatus = pick([...validationStatuses, ...Array.from({ length: 8 }, () => 'unvalidated' as const)])
  const evidence = {
    kind: 'file',
    path: `src/f${at % 5000}.py`,
    startLine: 3,
    endLine: 9,
    quote: text.repeat(4),
  } as const
  return {
    id: `fnd_${at.toString(16).padStart(12, '0')}`,
    namespace: scan.namespace,
    repositoryScan: scan.name,
    scanRunID: 'r',
    sliceID: `slice_${at % 1500}`,
    fingerprint: `v3:${at}`,
    title: `Finding ${at}`,
    category: `class ${at % 40}`,
    summary: text.repeat(2),
    rootCause: text,
    remediation: text,
    filePath: evidence.path,
    line: 3,
    evidence: [evidence],
    confidence: pick(confidences),
    severity,
    state,
    validationStatus,
    createdAt: updatedAt,
    updatedAt,
  }
}

async function fill(database: Database): Promise<void> {
  const random = makeRandom(11)
  const pick: Pick = (from) => from[Math.floor(random() * from.length)] as never
  for (let at = 0; at < listed; at += 5000) {
    const some = Array.from({ length: Math.min(5000, listed - at) }, (_, more) => makeFinding(at + more, pick))
    await database.write((tx) => writeFindings(tx, scan.uid, some))
  }
}

/** Each filter is there or not, in any combination with the others. */
function pickFilter(pick: Pick): FindingFilter {
  const maybe = <T>(values: readonly T[]) => (pick([true, false]) ? pick(values) : undefined)
  return {
    severity: maybe(severities),
    validationStatus: maybe(validationStatuses),
    state: maybe(findingStates),
    sliceID: pick([true, false, false]) ? `slice_${pick([1, 700, 1400])}` : undefined,
    category: maybe(['class 1', 'class 20', 'class 39', 'none']),
    recommended: pick([true, false]),
  }
}

async function measureList(store: Findings): Promise<{ took: number[]; worst: string }> {
  const random = makeRandom(5)
  const pick: Pick = (from) => from[Math.floor(random() * from.length)] as never
  const took: number[] = []
  let worst = ''
  for (let page = 0; page < pages; page += 1) {
    const filter = pickFilter(pick)
    const place = new Date(1_700_000_000_000 + Math.floor(random() * listed) * 1000).toISOString()
    const order = filter.recommended ? `${pick([1, 2, 3, 4])}${pick([1, 2, 3, 4])}${pick([1, 2, 3])} ${place}` : place
    const after = pick([true, false]) ? { order, id: 'fnd_8' } : undefined
    const [, ms] = await measure(() => store.list(scan.uid, { ...filter, limit: pageSize, after }))
    if (ms > Math.max(...took, 0)) worst = JSON.stringify({ ...filter, after })
    took.push(ms)
  }
  return { took, worst }
}

async function measureStore(name: string, database: Database, store: Findings): Promise<Row[]> {
  report(`scan: findings in ${name}`, await measureIngest(store))
  const [, filled] = await measure(() => fill(database))
  // Both do so by themselves before long.
  await database.write((tx) => tx.run({ text: 'analyze findings', parameters: [] }))
  const { took, worst } = await measureList(store)
  if (process.env.BENCH_WORST) console.log(worst)
  const of = (share: number) => round(percentile(took, share), 2)
  const sizes = { p50: of(0.5), p99: of(0.99), max: round(Math.max(...took), 2) }
  return [{ store: name, findings: listed + findings, pages, ...sizes, 'filled ms': round(filled, 0) }]
}

export async function measureFindings(folder: string): Promise<void> {
  const sqlite = openSqlite({ path: join(folder, 'svc.db') })
  const records = createRecords({ database: sqlite, blobDir: folder, clock, ids })
  const rows = await measureStore('SQLite', sqlite, records.findings)
  await records.close()
  await sqlite.close()
  report('scan: pages of a list, ms', [...rows, ...(await measurePostgres())])
}

async function measurePostgres(): Promise<Row[]> {
  if (postgresMissing) return []
  const server = await startPostgres(['fsync=on'])
  server.execute('postgres', 'create database bench')
  try {
    const { database, records, close } = await openPostgresRecords({ url: server.urlOf('bench'), clock, ids })
    const rows = await measureStore('PostgreSQL', database, records.findings)
    await close()
    return rows
  } finally {
    await server.remove()
  }
}
