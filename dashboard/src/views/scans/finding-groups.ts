// Findings by file, or by the rule that they break.
import type { Finding } from '../../../../src/contract/api/scans/findings.ts'

export const groupings = ['file', 'rule'] as const
type Grouping = (typeof groupings)[number]

type Grouped = Pick<Finding, 'filePath' | 'ruleID' | 'category'>
export type FindingGroup<T> = { name: string; findings: T[] }

const reads: Record<Grouping, { name: (finding: Grouped) => string | undefined; none: string }> = {
  file: { name: ({ filePath }) => filePath, none: 'without a file' },
  rule: { name: ({ ruleID, category }) => ruleID ?? category, none: 'without a rule' },
}

/** Groups in the order of their first findings: the one with the worst comes first. Undefined where nothing is grouped. */
export function groupFindings<T extends Grouped>(
  findings: readonly T[],
  by: string | null,
): FindingGroup<T>[] | undefined {
  const grouping = groupings.find((one) => one === by)
  if (grouping === undefined) return undefined
  const { name, none } = reads[grouping]
  const groups = Map.groupBy(findings, (finding) => name(finding) || none)
  return [...groups].map(([title, own]) => ({ name: title, findings: own }))
}
