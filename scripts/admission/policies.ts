// Every admission policy of the service: the cluster's API refuses what REST refuses.
import { actingRules } from './acting.ts'
import { identityRules } from './identity.ts'
import { networkRules } from './network.ts'
import { type PolicyRules, type PolicySettings, writePolicy } from './policy.ts'
import { referenceRules } from './references.ts'
import { resourceRules } from './resources.ts'
import { workspaceRules } from './workspaces.ts'

export type { PolicySettings } from './policy.ts'

/** The rules of every policy, in the order they are printed. */
export function listPolicyRules(settings: PolicySettings): PolicyRules[] {
  return [
    ...identityRules(settings),
    ...referenceRules(settings),
    ...resourceRules(settings),
    ...workspaceRules(settings),
    ...actingRules(settings),
    ...networkRules(settings),
  ]
}

/** ValidatingAdmissionPolicies, each followed by its binding. */
export function buildPolicies(settings: PolicySettings): object[] {
  return listPolicyRules(settings).flatMap((rules) => writePolicy(rules, settings))
}
