// Whether what a finding cites is there no more. Text of findings is kept without secrets, so files are compared without them.
import type { Finding } from '../../contract/api/scans/findings.ts'
import { createRedactor } from '../../observability/redaction.ts'
import { squeeze } from './finding-evidence.ts'

export const redactCode = createRedactor([], 'tokens')

/** `lines`: of its file; undefined: there is no such file. */
export function isCodeGone({ evidence: [first] }: Pick<Finding, 'evidence'>, lines: readonly string[] | undefined) {
  if (lines === undefined) return true
  if (first?.quote === undefined) return false
  return !squeeze(redactCode(lines.join('\n'))).includes(squeeze(first.quote))
}
