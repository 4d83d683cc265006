// Names of what a scan makes: tasks and branches. The same work always has the same name, so that it is made once.
import { createHash } from 'node:crypto'
import { trimTrailing } from '../../lib/trim.ts'

export const scanStages = ['threat-model', 'review', 'validation', 'patch', 'test'] as const
export type ScanStage = (typeof scanStages)[number]

/** Labels of the tasks of a scan. */
export const scanLabels = {
  scan: 'svc.ai/security-target',
  run: 'svc.ai/security-scan-id',
  stage: 'svc.ai/security-stage',
  slice: 'svc.ai/security-slice-id',
  finding: 'svc.ai/security-finding-id',
} as const

const hex12 = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)

/** `<scan>-<stage>-<hash of the scope>`, at most 63 characters; a long name of a scan is cut. */
export function nameScanTask(scanName: string, stage: ScanStage, scope: string): string {
  const end = `-${stage}-${hex12(`${scanName}\0${scope}`)}`
  return `${trimTrailing(scanName.slice(0, 63 - end.length), '-')}${end}`
}

/** Branch of a patch. */
export function nameSecurityBranch(findingId: string, taskName: string): string {
  return `svc/security/${findingId.replace(/[^A-Za-z0-9]/g, '-')}-${hex12(taskName)}`
}
