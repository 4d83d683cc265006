import type { Finding } from '../../../../src/contract/api/scans/findings.ts'
import { severities } from '../../../../src/contract/kinds/scans/repository-scan.ts'

type Ranked = Pick<Finding, 'state' | 'severity'>

/** There is nothing left to decide about it. */
export function isSettled({ state }: Pick<Finding, 'state'>): boolean {
  return state === 'dismissed' || state === 'fixed'
}

const rankOf = (finding: Ranked) => (isSettled(finding) ? 10 : 0) + severities.indexOf(finding.severity)

/** What is still to be dealt with before what is not, the worst first; among equals the order of the service. */
export function orderFindings<T extends Ranked>(findings: readonly T[]): T[] {
  return findings.toSorted((a, b) => rankOf(a) - rankOf(b))
}
