// Imports of findings of scanners: checked against the files of a commit and stored part by part, so that an import that is
// interrupted goes on without storing anything twice.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import { tryParseJson } from '../../lib/json.ts'
import type { ScanImport } from '../../ports/scans/scans.ts'
import type { SourceTree, TreeEntry } from '../../ports/scans/source-trees.ts'
import { maxSourceBytes } from '../../rules/scans/left-out.ts'
import type { SarifReport, ToolReport } from '../../rules/scans/sarif-import.ts'
import { batchResults, ingestBatch, locateReport, type ResultBatch } from '../../rules/scans/sarif-ingest.ts'
import { type ScanContext, ScanRunFailure, scanKeyOf } from './context.ts'
import { closeGone } from './gone-code.ts'
import { openScanTree, readFiles, readSources } from './trees.ts'

type Importing = {
  scan: RepositoryScan
  record: ScanImport
  tree: SourceTree
  /** Everything in it, and the bytes of the files that are read. */
  entries: readonly TreeEntry[]
  sizes: Map<string, number>
}

/** A lock file can be larger than any source that is reviewed. */
const maxFileBytes = 16 * maxSourceBytes

function listSizes(entries: readonly TreeEntry[]): Map<string, number> {
  const readable = entries.filter(({ kind, bytes }) => kind === 'file' && bytes <= maxFileBytes)
  return new Map(readable.map(({ path, bytes }) => [path, bytes]))
}

async function takeBatch(
  context: ScanContext,
  { scan, record, tree, sizes }: Importing,
  { tool, part, batch }: { tool: string; part: string; batch: ResultBatch },
): Promise<void> {
  const { findings } = context.records
  const { uid } = scan.metadata
  const files = await readFiles(tree, batch.paths, context.signal)
  const run = { id: record.id, taskName: record.id }
  const readSource = readSources(context, tree, files)
  const ingested = await ingestBatch({
    batch,
    tool,
    part,
    run,
    known: await findings.listKnown(uid, batch.paths),
    readSource: async (path) => (sizes.has(path) ? readSource(path) : undefined),
  })
  const startedAt = record.commitSHA === undefined ? record.createdAt : undefined
  const origin = { importedFrom: tool, ...(tree.commit !== undefined && { commitSHA: tree.commit }) }
  await findings.recordReview(scanKeyOf(scan), {
    run: run.id,
    part,
    taskName: run.taskName,
    startedAt,
    covered: [],
    ...ingested,
    origin,
  })
}

async function takeReport(context: ScanContext, importing: Importing, { name, items }: ToolReport): Promise<void> {
  const { sizes } = importing
  const readable = batchResults(items, (path) => sizes.get(path))
  for (const [at, batch] of readable.entries()) {
    context.signal.throwIfAborted()
    const paths = batch.paths.filter((path) => sizes.has(path))
    await takeBatch(context, importing, { tool: name, part: `${name} ${at + 1}`, batch: { ...batch, paths } })
  }
}

/** A scanner's earlier findings that it no longer reports: where it looked at their file, or their code is gone. */
async function closeUnreported(context: ScanContext, importing: Importing, report: ToolReport): Promise<number> {
  if (!report.isComplete) return 0
  const { scan, record, tree } = importing
  const { uid } = scan.metadata
  const looked = new Set(report.files)
  return closeGone(context, {
    scanUid: uid,
    tree,
    paths: await context.records.findings.openPaths(uid),
    isFixed: ({ filePath = '', scanRunID, importedFrom }, isGone) =>
      importedFrom === report.name && scanRunID !== record.id && (looked.has(filePath) || isGone()),
  })
}

async function takeAll(context: ScanContext, importing: Importing, sarif: SarifReport): Promise<void> {
  const { scan, record, tree, entries } = importing
  const paths = entries.map(({ path }) => path)
  const { root } = sarif
  const tools = sarif.tools.map((report) => locateReport(report, { paths, folder: scan.spec.subPath, root }))
  const { scans, scanImports } = context.records
  const { uid } = scan.metadata
  for (const report of tools) await takeReport(context, importing, report)
  let fixedFindings = 0
  for (const report of tools) fixedFindings += await closeUnreported(context, importing, report)
  const { accepted, added, dropped, duplicates } = await scans.reviewTotals(uid, record.id)
  const counts = {
    acceptedFindings: accepted,
    newFindings: added,
    droppedFindings: dropped - duplicates,
    duplicateResults: duplicates,
    fixedFindings,
  }
  await scanImports.endImport(uid, record.id, {
    phase: 'succeeded',
    ...counts,
    ...(tree.commit !== undefined && { commitSHA: tree.commit }),
  })
}

/** An earlier version stored it as it is. */
async function readReport(content: string): Promise<SarifReport> {
  const json = content.startsWith('{') ? content : await promisify(gunzip)(Buffer.from(content, 'base64'))
  return tryParseJson(json.toString()) as SarifReport
}

/** Takes in what was given, if anything was. */
export async function takeImport(context: ScanContext, scan: RepositoryScan): Promise<void> {
  const { scanImports } = context.records
  const { uid } = scan.metadata
  const pending = await scanImports.pendingImport(uid)
  if (pending === undefined) return
  const { record, content } = pending
  let tree: SourceTree | undefined
  try {
    tree = await openScanTree(context, scan, { headCommit: record.commitSHA }, context.signal)
    const entries = await tree.list(context.signal)
    await takeAll(context, { scan, record, tree, entries, sizes: listSizes(entries) }, await readReport(content))
  } catch (error) {
    if (!(error instanceof ScanRunFailure)) throw error
    await scanImports.endImport(uid, record.id, { phase: 'failed', errorMessage: error.message.slice(0, 4096) })
  } finally {
    await tree?.close()
  }
}
