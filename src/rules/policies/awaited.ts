// Refuses fields that belong to a later release, with the same message as the REST API.
import { type AwaitedField, awaitedFields, describeAwaited, writeAwaitedRule } from '../../contract/awaited.ts'
import { type Kind, kinds } from '../../contract/resources/index.ts'
import { isService, type PolicyRules, type PolicySettings, type Validation } from './policy.ts'

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
export function awaitedRules(settings: PolicySettings): PolicyRules[] {
  return (Object.keys(kinds) as Kind[]).flatMap((kind) => {
    const validations = awaitedFields
      .filter((field) => field.kind === kind)
      .map((field) => refuseAwaited(field, settings))
    return validations.length === 0 ? [] : [{ name: `${kinds[kind].singular}-awaited`, kinds: [kind], validations }]
  })
}
