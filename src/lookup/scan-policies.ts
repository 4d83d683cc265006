// The policies that a scan names, as they are now.
import type { RepositoryScanSpec } from '../contract/kinds/scans/repository-scan.ts'
import { SvcError } from '../errors.ts'
import type { ConfigMaps } from '../ports/resources/configmaps.ts'
import { digestPolicies, listPolicyRefs, type PolicyText, readPolicy } from '../rules/scans/policy.ts'

/** InvalidRequest, which names the field, when one cannot be used. */
export async function readPolicies(
  configMaps: ConfigMaps,
  namespace: string,
  spec: RepositoryScanSpec,
): Promise<{ policies: PolicyText[]; digest: string }> {
  const policies: PolicyText[] = []
  for (const { field, ref } of listPolicyRefs(spec)) {
    const found = readPolicy(field, ref, await configMaps.get({ namespace, name: ref.name }))
    if ('problem' in found) {
      const message = `invalid repository scan policy: ${field}: ${found.problem}`
      throw new SvcError('InvalidRequest', message, { details: [{ path: `spec.${field}`, message: found.problem }] })
    }
    policies.push(found)
  }
  return { policies, digest: digestPolicies(policies) }
}
