// Fields that only the service writes: who asked for a task, its own labels and annotations, and owner references.
import { scheduledNameLength } from '../../src/contract/api/tasks/task-body.ts'
import { apiVersion } from '../../src/contract/kinds/index.ts'
import { reservedPrefix } from '../../src/contract/kinds/resources/metadata.ts'
import { TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import { harmlessFields } from '../../src/rules/tasks/changes.ts'
import {
  type CelValidation,
  everyKind,
  isService,
  type PolicyRules,
  type PolicySettings,
  quoteCel,
  type Variable,
} from './policy.ts'

const [apiGroup = ''] = apiVersion.split('/')

function keepField(field: string, settings: PolicySettings): CelValidation {
  const unchanged = `oldObject != null && has(oldObject.spec.${field}) && oldObject.spec.${field} == object.spec.${field}`
  return {
    expression: `${isService(settings)} || !has(object.spec.${field}) || (${unchanged})`,
    message: `spec.${field} is set by the service; remove it`,
    reason: 'Invalid',
  }
}

/** Nobody can act through kubectl as a verified caller, so nobody can change what runs in that caller's name. */
function keepDeed(settings: PolicySettings): CelValidation {
  const decisive = TaskSpec.keyof().options.filter((field) => !harmlessFields.includes(field))
  const unchanged = decisive.map((field) => `object.spec.?${field} == oldObject.spec.?${field}`).join(' && ')
  return {
    expression: `${isService(settings)} || oldObject == null || !has(oldObject.spec.requestedBy) || (${unchanged})`,
    message: 'this task acts for somebody else, and only they may change what it does',
    reason: 'Forbidden',
  }
}

const scheduledName: CelValidation = {
  expression: `!has(object.spec.schedule) || size(object.metadata.name) <= ${scheduledNameLength}`,
  message: `metadata.name must have at most ${scheduledNameLength} characters for a task with a schedule`,
  reason: 'Invalid',
}

function writeKeys(part: string): Variable[] {
  const isOwn = `key.startsWith(${quoteCel(reservedPrefix)})`
  const [now, old] = [`variables.now_${part}`, `variables.old_${part}`]
  return [
    { name: `now_${part}`, expression: `object.metadata.?${part}.orValue({})` },
    { name: `old_${part}`, expression: `oldObject == null ? {} : oldObject.metadata.?${part}.orValue({})` },
    {
      name: `forged_${part}`,
      expression: `${now}.filter(key, ${isOwn} && !(key in ${old} && ${old}[key] == ${now}[key])) + ${old}.filter(key, ${isOwn} && !(key in ${now}))`,
    },
  ]
}

function refuseKeys(part: string, settings: PolicySettings): CelValidation {
  const words = `${part} below ${reservedPrefix} are set by the service; leave them as they are: `
  return {
    expression: `${isService(settings)} || size(variables.forged_${part}) == 0`,
    messageExpression: `${quoteCel(words)} + variables.forged_${part}.join(', ')`,
    reason: 'Invalid',
  }
}

/** An owner reference decides whose child an object is; the cluster itself may remove owners. */
const owners: Variable[] = [
  {
    name: 'old_owners',
    expression: 'oldObject == null ? [] : oldObject.metadata.?ownerReferences.orValue([]).map(owner, owner.uid)',
  },
  {
    name: 'new_owners',
    expression: `object.metadata.?ownerReferences.orValue([]).filter(owner, owner.apiVersion.startsWith(${quoteCel(`${apiGroup}/`)}) && !(owner.uid in variables.old_owners)).map(owner, owner.kind + '/' + owner.name)`,
  },
]

function refuseOwners(settings: PolicySettings): CelValidation {
  return {
    expression: `${isService(settings)} || size(variables.new_owners) == 0`,
    messageExpression: `'metadata.ownerReferences of the service are set by it; remove ' + variables.new_owners.join(', ')`,
    reason: 'Invalid',
  }
}

export function identityRules(settings: PolicySettings): PolicyRules[] {
  return [
    {
      name: 'task-identity',
      kinds: ['Task'],
      validations: [
        keepField('requestedBy', settings),
        keepField('transaction', settings),
        keepDeed(settings),
        scheduledName,
      ],
    },
    {
      name: 'reserved-keys',
      kinds: everyKind,
      variables: [...writeKeys('labels'), ...writeKeys('annotations'), ...owners],
      validations: [refuseKeys('labels', settings), refuseKeys('annotations', settings), refuseOwners(settings)],
    },
  ]
}
