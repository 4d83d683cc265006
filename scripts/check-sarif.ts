// Reads SARIF files that tools wrote, each against a tree made of what it names, and says what becomes of every result:
//   node scripts/check-sarif.ts FOLDER [--each]
// It fails where a result is neither kept, dropped, skipped nor a duplicate, where two are kept as one, and where the reader throws.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeSourceText, squeeze } from '../src/rules/scans/finding-evidence.ts'
import { decodeSource } from '../src/rules/scans/left-out.ts'
import { type NamedRegion, readSarif, type SarifReport, type ToolReport } from '../src/rules/scans/sarif-import.ts'
import { batchResults, ingestBatch, locateReport } from '../src/rules/scans/sarif-ingest.ts'
import { readSarifLog } from '../src/rules/scans/sarif-log.ts'

type Tree = Map<string, string[]>
type Counts = Record<'results' | 'kept' | 'dropped' | 'duplicates' | 'skipped', number>
const noCounts: Counts = { results: 0, kept: 0, dropped: 0, duplicates: 0, skipped: 0 }
const maxLines = 1_000_000

/** Quotes overlap: what one has of a line, another may have more of. */
function mergeLine(known: string, text: string): string {
  if (squeeze(known).includes(squeeze(text))) return known
  return squeeze(text).includes(squeeze(known)) ? text : `${known} ${text}`
}

/** Lengthens the file so that the region is in it, with what it quotes. */
function addRegion(tree: Tree, { path, startLine = 1, endLine = startLine, quote = '' }: NamedRegion): void {
  const parts = path.replace(/^([a-z][a-z0-9+.-]*:)?\/*/i, '').split('/')
  const name = parts.filter((part) => !/^\.{0,2}$/.test(part)).join('/')
  if (name === '') return
  const lines = tree.get(name) ?? []
  const last = Math.min(Math.max(startLine, endLine), maxLines)
  while (lines.length <= last) lines.push('')
  for (const [at, text] of quote.split(/\r\n|\r|\n/).entries()) {
    const line = startLine - 1 + at
    lines[line] = mergeLine(lines[line] ?? '', text)
  }
  tree.set(name, lines)
}

function makeTree({ tools }: SarifReport): Tree {
  const tree: Tree = new Map()
  for (const region of tools.flatMap(({ items }) => items.flatMap(({ locations }) => locations)))
    addRegion(tree, region)
  return tree
}

/** Of one tool: how many are kept, and why the others are not. */
async function ingest(tool: ToolReport, tree: Tree) {
  const { name, items } = locateReport(tool, { paths: tree.keys() })
  const readSource = async (path: string) => {
    const lines = tree.get(path)
    return lines && makeSourceText(Buffer.from(lines.join('\n')), [])
  }
  const run = { id: 'check', taskName: 'check' }
  const batches = batchResults(items, () => 0).map((batch, at) =>
    ingestBatch({ batch, tool: name, part: `${name} ${at}`, run, known: [], readSource }),
  )
  const ingested = await Promise.all(batches)
  const accepted = ingested.flatMap((one) => one.accepted)
  const findings = new Set(accepted.map(({ fingerprint }) => fingerprint)).size
  if (findings !== accepted.length) throw new Error(`${accepted.length} results are kept as ${findings} findings`)
  return { kept: accepted.length, notKept: ingested.flatMap((one) => one.dropped) }
}

async function check(text: string): Promise<{ fault: string } | { counts: Counts; reasons: Record<string, number> }> {
  const [report, log] = [readSarif(text), readSarifLog(text)]
  if ('fault' in report || 'fault' in log) return report as { fault: string }
  const tree = makeTree(report)
  const taken = await Promise.all(report.tools.map((tool) => ingest(tool, tree)))
  const notKept = taken.flatMap((one) => one.notKept)
  const dropped = notKept.filter(({ layer }) => layer !== 'duplicate')
  const kinds = Map.groupBy(dropped, ({ reason }) => reason.replace(/"[^"]*"|\d+|of \S+ does/g, '…'))
  const counts = {
    results: log.reduce((sum, run) => sum + run.results.length, 0),
    kept: taken.reduce((sum, { kept }) => sum + kept, 0),
    dropped: dropped.length,
    duplicates: notKept.length - dropped.length,
    skipped: Object.values(report.skipped).reduce((sum, count) => sum + count, 0),
  }
  return { counts, reasons: Object.fromEntries([...kinds].map(([reason, all]) => [reason, all.length])) }
}

const [folder = '.', flag] = process.argv.slice(2)
let total = noCounts
const problems: Record<'refused' | 'faults', string[]> = { refused: [], faults: [] }

function add(file: string, { counts, reasons }: { counts: Counts; reasons: Record<string, number> }): void {
  const keys = Object.keys(total) as (keyof Counts)[]
  total = Object.fromEntries(keys.map((key) => [key, total[key] + counts[key]])) as Counts
  const { results, kept, dropped, duplicates, skipped } = counts
  if (results !== kept + dropped + duplicates + skipped) problems.faults.push(`${file}: the counts do not add up`)
  if (flag === '--each') console.log(file, JSON.stringify(counts), JSON.stringify(reasons))
}

for (const file of readdirSync(folder).toSorted()) {
  try {
    const checked = await check(decodeSource(readFileSync(join(folder, file))))
    if ('fault' in checked) problems.refused.push(`${file}: ${checked.fault}`)
    else add(file, checked)
  } catch (error) {
    problems.faults.push(`${file}: ${error instanceof Error ? error.stack : error}`)
  }
}
for (const [kind, lines] of Object.entries(problems)) for (const line of lines) console.log(`${kind}: ${line}`)
console.log(JSON.stringify({ ...total, refused: problems.refused.length, faults: problems.faults.length }))
process.exitCode = problems.faults.length > 0 ? 1 : 0
