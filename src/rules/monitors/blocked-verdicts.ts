// What the verdict about a pull request means for the counts of its monitor.
import type { ItemVerdict } from '../../contract/api/monitors/monitor-records.ts'

/** Verdicts after which a pull request waits for a person. What is skipped is counted apart from it (MON-075). */
export const blockedVerdicts: readonly ItemVerdict[] = [
  'failed',
  'stale',
  'needs_changes',
  'needs_human',
  'security_sensitive',
]
