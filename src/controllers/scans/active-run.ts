// A run that is under way, with the policies that it goes by.
import type { RepositoryScan } from '../../contract/kinds/scans/repository-scan.ts'
import type { ScanRun, ScanRunChange } from '../../ports/scans/scans.ts'
import type { PolicyText } from '../../rules/scans/policy.ts'
import type { ScanContext } from './context.ts'

export type ActiveRun = { scan: RepositoryScan; run: ScanRun; policies: PolicyText[]; digest: string }

/** Stores the change; the run as it is then. */
export async function changeRun(
  { records }: ScanContext,
  { scan, run }: ActiveRun,
  change: ScanRunChange,
): Promise<ScanRun> {
  return (await records.scans.changeRun(scan.metadata.uid, run.id, change)) ?? run
}
