// What the controller of scans works with.
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import type { Clock, Ids } from '../../lib/clock.ts'
import type { CodeHosts } from '../../ports/codehost/code-host.ts'
import type { Records } from '../../ports/index.ts'
import type { ConfigMaps } from '../../ports/resources/configmaps.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import type { ScanKey, ScanRun, ScanRunChange } from '../../ports/scans/scans.ts'
import type { Outlines, SourceTree, SourceTrees } from '../../ports/scans/source-trees.ts'
import type { PolicyText } from '../../rules/scans/policy.ts'
import type { Log } from '../engine/controller.ts'

export type ScanControllerDeps = {
  resources: Resources
  records: Pick<Records, 'scans' | 'scanImports' | 'findings' | 'results' | 'artifacts'>
  configMaps: ConfigMaps
  secrets: Secrets
  codeHosts: CodeHosts
  /** Absent: runs fail, and say so. */
  sourceTrees?: SourceTrees
  /** Absent: declarations are guessed by the lines of a file. */
  outlines?: Outlines
  clock: Clock
  ids: Ids
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
