// Findings whose code is there no more: the file was deleted, or what a scanner pointed at. No review can cover them.
import type { Finding } from '../../ports/scans/findings.ts'
import type { SourceTree } from '../../ports/scans/source-trees.ts'
import { isCodeGone, makeSourceText } from '../../rules/scans/finding-evidence.ts'
import { closeFinding } from '../../rules/scans/finding-state.ts'
import type { ActiveRun, ScanContext } from './context.ts'
import { readFiles } from './trees.ts'

const pathsAtOnce = 200

export type Looking = {
  scanUid: string
  tree: SourceTree
  /** Files that are looked at; others are not asked about. */
  paths: readonly string[]
  /** Which findings in them count as fixed; `isGone` reads the file. */
  isFixed(finding: Finding, isGone: () => boolean): boolean
}

/** Returns how many are fixed now. */
export async function closeGone(context: ScanContext, { scanUid, tree, paths, isFixed }: Looking): Promise<number> {
  const { findings } = context.records
  let closed = 0
  for (let at = 0; at < paths.length; at += pathsAtOnce) {
    const part = paths.slice(at, at + pathsAtOnce)
    const open = await findings.listOpen(scanUid, part)
    if (open.length === 0) continue
    const files = await readFiles(tree, [...new Set(open.map(({ filePath = '' }) => filePath))], context.signal)
    for (const finding of open) {
      const content = files.get(finding.filePath ?? '')
      const isGone = () => isCodeGone(finding, content && makeSourceText(content).lines)
      if (!isFixed(finding, isGone)) continue
      const now = context.clock.now().toISOString()
      await findings.change(finding.namespace, finding.id, (one) => closeFinding(one, finding, now))
      closed += 1
    }
  }
  return closed
}

/** At the end of a run that reviewed everything that it had to: in what changed since the last one, or else in everything. */
export async function closeGoneOfRun(context: ScanContext, { scan, run }: ActiveRun): Promise<void> {
  const { uid } = scan.metadata
  const open = await context.records.findings.openPaths(uid)
  if (open.length === 0) return
  const tree = await context.trees.open(context, scan, run, context.signal)
  const { baseCommit } = run
  const changes = baseCommit === undefined ? undefined : await tree.changesSince(baseCommit, context.signal)
  const there = new Set((await tree.list(context.signal)).filter(({ kind }) => kind === 'file').map(({ path }) => path))
  const changed = changes && new Set(changes.changed)
  const paths = open.filter((path) => !there.has(path) || (changed?.has(path) ?? true))
  await closeGone(context, {
    scanUid: uid,
    tree,
    paths,
    isFixed: ({ filePath = '', scanRunID, importedFrom }, isGone) =>
      scanRunID !== run.id && (!there.has(filePath) || (importedFrom !== undefined && isGone())),
  })
}
