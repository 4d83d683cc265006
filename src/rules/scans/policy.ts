// Policies of scans: texts of config maps that say what to look for and what is no finding. They add to the prompts, and turn
// no check off.
import { createHash } from 'node:crypto'
import { scannerPolicyVersion } from '../../contract/api/scans/runs.ts'
import type { RepositoryScanSpec } from '../../contract/kinds/scans/repository-scan.ts'
import { redactText } from '../../observability/redaction.ts'

export const policyMark = 'svc.ai/security-policy'
/** In UTF-8. */
const maxPolicyBytes = 32_768

export type PolicyField = 'customScanInstructionsRef' | 'falsePositivePolicyRef'

type Marked = { labels: Record<string, string>; annotations: Record<string, string>; data: Record<string, string> }
export type PolicyText = { field: PolicyField; name: string; key: string; text: string }

const isMarked = (marks: Record<string, string>) => marks[policyMark]?.toLowerCase() === 'true'

/** The policy, or why it cannot be used, as the end of a sentence. */
export function readPolicy(
  field: PolicyField,
  { name, key }: { name: string; key: string },
  found: Marked | undefined,
): PolicyText | { problem: string } {
  if (found === undefined) return { problem: `config map "${name}" does not exist in the namespace of the scan` }
  if (!isMarked(found.labels) && !isMarked(found.annotations))
    return { problem: `config map "${name}" is no policy: set its label or annotation ${policyMark} to "true"` }
  const text = found.data[key]
  if (text === undefined) return { problem: `config map "${name}" has no entry "${key}"` }
  const bytes = Buffer.byteLength(text)
  if (bytes > maxPolicyBytes) return { problem: `it has ${bytes} bytes, more than the ${maxPolicyBytes} of a policy` }
  if (redactText(text) !== text) return { problem: 'it seems to hold a secret: remove it, models read this text' }
  return { field, name, key, text }
}

const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

/** Changes with the rules of the scanner and with every text; the texts are in none of it. */
export function digestPolicies(policies: readonly PolicyText[]): string {
  const parts = policies.map(({ field, name, key, text }) => [field, name, key, digest(text)])
  return digest(JSON.stringify([scannerPolicyVersion, ...parts]))
}

/** The policies that the scan names. */
export function listPolicyRefs(spec: RepositoryScanSpec): { field: PolicyField; ref: { name: string; key: string } }[] {
  const { customScanInstructionsRef, falsePositivePolicyRef } = spec
  return Object.entries({ customScanInstructionsRef, falsePositivePolicyRef }).flatMap(([field, ref]) =>
    ref === undefined ? [] : [{ field: field as PolicyField, ref }],
  )
}
