// Every admission policy of the service: the cluster's API refuses what REST refuses.
import { type AwaitedField, awaitedFields, describeAwaited, writeAwaitedRule } from '../../contract/awaited.ts'
import { type Kind, kinds } from '../../contract/resources/index.ts'
import { catalogRules } from './catalog.ts'
import { identityRules } from './identity.ts'
import { isService, type PolicyRules, type PolicySettings, type Validation, writePolicy } from './policy.ts'
import { referenceRules } from './references.ts'
import { workspaceRules } from './workspaces.ts'

/** An object that was stored before the field was refused may keep it while that part of the spec is unchanged. */
function refuseAwaited(field: AwaitedField, settings: PolicySettings): Validation {
  const [part = ''] = field.path.split(/[.[]/)
  const kept =
    part === '' ? 'oldObject != null' : `oldObject != null && object.spec.?${part} == oldObject.spec.?${part}`
  const where = field.path === '' ? '' : `.${field.path}`
  return {
    expression: `${isService(settings)} || !(${writeAwaitedRule(field, 'object.spec')}) || (${kept})`,
    message: `spec${where} ${describeAwaited(field)}`,
    reason: 'Invalid',
  }
}

/** A policy for each kind that has such fields. */
function awaitedRules(settings: PolicySettings): PolicyRules[] {
  return (Object.keys(kinds) as Kind[]).flatMap((kind) => {
    const validations = awaitedFields
      .filter((field) => field.kind === kind)
      .map((field) => refuseAwaited(field, settings))
    return validations.length === 0 ? [] : [{ name: `${kinds[kind].singular}-awaited`, kinds: [kind], validations }]
  })
}

export type { PolicySettings } from './policy.ts'

/** The rules of every policy, in the order they are printed. */
export function listPolicyRules(settings: PolicySettings): PolicyRules[] {
  return [
    ...identityRules(settings),
    ...referenceRules(settings),
    ...catalogRules(settings),
    ...workspaceRules(settings),
    ...awaitedRules(settings),
  ]
}

/** ValidatingAdmissionPolicies, each followed by its binding. */
export function buildPolicies(settings: PolicySettings): object[] {
  return listPolicyRules(settings).flatMap((rules) => writePolicy(rules, settings))
}
