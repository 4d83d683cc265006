// Who may act inside somebody's task through kubectl: `rules/tasks/acting.ts` for a door that sees one object. What it cannot
// read (the agent of a task, the tasks of an agent, those of a session) may name any Secret of its namespace.
import { type Kind, kinds } from '../../../contract/kinds/index.ts'
import { TaskSpec } from '../../../contract/kinds/tasks/task.ts'
import { harmlessFields } from '../../tasks/changes.ts'
import { apiGroup, isService, type PolicyRules, type PolicySettings, specChanged, type Variable } from './policy.ts'
import { starts } from './references.ts'

/** Of tasks, in RBAC: its holder acts inside the tasks of a namespace, and needs no right to their Secrets. */
export const actVerb = 'act'

const readsSecrets = (namespace: string) =>
  `authorizer.group('').resource('secrets').namespace(${namespace}).check('get').allowed()`

/** Apart from each other, since one expression can spend two checks at most. */
const rights: readonly Variable[] = [
  { name: 'readsSecrets', expression: readsSecrets('request.namespace') },
  {
    name: 'acts',
    expression: `authorizer.group('${apiGroup}').resource('tasks').namespace(request.namespace).check('${actVerb}').allowed()`,
  },
]

const needed = `needs the right to get the Secrets of the namespace, or the verb ${actVerb} on tasks; or do it through the API of the service, which knows whose Secrets they are`

type Acting = { kind: Kind; conditions: readonly Variable[]; what: string; agentNamespace?: string }

function actingRule({ kind, conditions, what, agentNamespace }: Acting, settings: PolicySettings): PolicyRules {
  const there: Variable[] =
    agentNamespace === undefined ? [] : [{ name: 'readsOfAgent', expression: readsSecrets(agentNamespace) }]
  const reads = ['variables.readsSecrets', ...there.map(({ name }) => `variables.${name}`)].join(' && ')
  return {
    name: `${kinds[kind].singular}-acting`,
    kinds: [kind],
    conditions,
    variables: [...rights, ...there],
    validations: [
      {
        expression: `${isService(settings)} || (${reads}) || variables.acts`,
        message: `${what} ${needed}`,
        reason: 'Forbidden',
      },
    ],
  }
}

const decisive = TaskSpec.keyof().options.filter((field) => !harmlessFields.includes(field))
const changes = [...decisive.map((field) => `object.spec.?${field} != oldObject.spec.?${field}`), ...starts]
const joins = 'object.spec.?sessionRef.hasValue()'
const isTold = `(oldObject.spec.?agentRef.hasValue() || ${joins}) && (${changes.join(' || ')})`

/** A new task is its maker's own: only the session that it joins is somebody else's. */
const inside: Variable = {
  name: 'acts-inside',
  expression: `request.operation == 'CREATE' ? ${joins} : (${isTold})`,
}

export function actingRules(settings: PolicySettings): PolicyRules[] {
  const agentNamespace =
    'oldObject == null ? request.namespace : oldObject.spec.?agentRef.?namespace.orValue(request.namespace)'
  const shared = (kind: Kind, noun: string): Acting => ({
    kind,
    conditions: [specChanged],
    what: `${noun} is part of every task that uses it: making or changing one`,
  })
  return [
    {
      kind: 'Task' as const,
      conditions: [inside],
      what: 'acting inside a task with an agent or a session, whose Secrets may be those of others,',
      agentNamespace: `(${agentNamespace})`,
    },
    shared('Agent', 'an agent'),
    shared('Skill', 'a skill'),
    shared('Provider', 'a provider'),
    shared('Tool', 'a tool'),
  ].map((rule) => actingRule(rule, settings))
}
