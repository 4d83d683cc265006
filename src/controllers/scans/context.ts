// What the controller of scans works with.
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import type { Ports, Records } from '../../ports/index.ts'
import type { ScanKey, ScanRun, ScanRunChange } from '../../ports/scans/scans.ts'
import type { SourceTree } from '../../ports/scans/source-trees.ts'
import type { PolicyText } from '../../rules/scans/policy.ts'
import type { Log } from '../engine/controller.ts'

/** Without `sourceTrees` runs fail, and say so; without `outlines` declarations are guessed by the lines of a file. */
export type ScanControllerDeps = Pick<
  Ports,
  'resources' | 'configMaps' | 'secrets' | 'codeHosts' | 'sourceTrees' | 'outlines' | 'clock' | 'ids'
> & {
  records: Pick<Records, 'scans' | 'scanImports' | 'findings' | 'results' | 'artifacts'>
  log: Log
}

export type TreeCache = {
  open(deps: ScanControllerDeps, scan: RepositoryScan, run: ScanRun, signal: AbortSignal): Promise<SourceTree>
  /** The tree of the scan is no longer needed. */
  close(scanUid: string): Promise<void>
  /** Nothing is needed any more. */
  clear(): void
}

export type ScanContext = ScanControllerDeps & { trees: TreeCache; signal: AbortSignal }

export function scanKeyOf({ metadata: { uid, namespace, name } }: RepositoryScan): ScanKey {
  return { uid, namespace, name }
}

/** Why a run ends before its time. */
export class ScanRunFailure extends Error {
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RunFailure'
    this.reason = reason
  }
}

export type ActiveRun = { scan: RepositoryScan; run: ScanRun; policies: PolicyText[]; digest: string }

/** Stores the change; the run as it is then. */
export async function changeRun(
  { records }: ScanContext,
  { scan, run }: ActiveRun,
  change: ScanRunChange,
): Promise<ScanRun> {
  return (await records.scans.changeRun(scan.metadata.uid, run.id, change)) ?? run
}
