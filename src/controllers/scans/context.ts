// What the controller of scans works with.
import type { RepositoryScan } from '../../contract/resources/repository-scan.ts'
import type { Clock, Ids } from '../../ports/clock.ts'
import type { CodeHosts } from '../../ports/code-host.ts'
import type { ConfigMaps } from '../../ports/configmaps.ts'
import type { Records } from '../../ports/index.ts'
import type { Outlines } from '../../ports/outlines.ts'
import type { Resources } from '../../ports/resources.ts'
import type { ScanKey, ScanRun } from '../../ports/scans.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { SourceTree, SourceTrees } from '../../ports/source-trees.ts'
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

export type TreeMemory = {
  open(deps: ScanControllerDeps, scan: RepositoryScan, run: ScanRun, signal: AbortSignal): Promise<SourceTree>
  /** The tree of the scan is no longer needed. */
  close(scanUid: string): Promise<void>
  /** Nothing is needed any more. */
  clear(): void
}

export type ScanContext = ScanControllerDeps & { trees: TreeMemory; signal: AbortSignal }

export function keyOf({ metadata: { uid, namespace, name } }: RepositoryScan): ScanKey {
  return { uid, namespace, name }
}

/** Why a run ends before its time. */
export class RunFailure extends Error {
  readonly reason: string

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RunFailure'
    this.reason = reason
  }
}
