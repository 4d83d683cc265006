// Who may act inside somebody's task through kubectl: `rules/tasks/acting.ts` for a door that sees one object. What it cannot
// read (the agent of a task, the tasks of an agent, those of a session) may name any Secret of its namespace.
import { type Kind, kinds } from '../../src/contract/kinds/index.ts'
import { TaskSpec } from '../../src/contract/kinds/tasks/task.ts'
import { harmlessFields } from '../../src/rules/tasks/changes.ts'
import { guardedParts, guardedTexts, usedElsewhere } from '../../src/rules/tasks/uses-elsewhere.ts'
import { apiGroup, isService, type PolicyRules, type PolicySettings, specChanged, type Variable } from './policy.ts'
import { chain, starts } from './references.ts'

/** Of tasks, in RBAC: its holder acts inside the tasks of a namespace, and needs no right to their Secrets. */
export const actVerb = 'act'

const readsSecrets = (namespace: string) =>
  `authorizer.group('').resource('secrets').namespace(${namespace}).check('get').allowed()`
const acts = (namespace: string) =>
  `authorizer.group('${apiGroup}').resource('tasks').namespace(${namespace}).check('${actVerb}').allowed()`

/** Apart from each other, since one expression can spend two checks at most. */
const rights: readonly Variable[] = [
  { name: 'readsSecrets', expression: readsSecrets('request.namespace') },
  { name: 'acts', expression: acts('request.namespace') },
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

/** One check costs 350,000 of the 10,000,000 that a policy may spend per request, and each namespace takes two. */
const maxNamespacesChecked = 12

/** What the service notes of the namespace and kind, and whether a line of it is of the object. */
const lines = "params.?data[?(request.namespace + '.' + request.resource.resource)].orValue('').split('\\n')"
const isNamed = "line.startsWith(object.metadata.name + ' ') || line.startsWith('* ')"

type NotedParts = Pick<PolicyRules, 'name' | 'kinds' | 'resource'> & {
  conditions: readonly Variable[]
  message: string
  /** Who else passes, by one check of a right. */
  exempt?: Variable
}

/** The service notes where the Secrets are of those tasks that the object is part of. */
function notedRule(parts: NotedParts, settings: PolicySettings): PolicyRules {
  const { conditions, message, exempt, ...rule } = parts
  const counts = Array.from({ length: maxNamespacesChecked }, (_, at) => at)
  const passes = (at: number | 'All') => `variables.reads${at} || variables.acts${at}`
  const everywhere = [passes('All'), ...(exempt ? [`variables.${exempt.name}`] : [])].join(' || ')
  const refusal = { message, reason: 'Forbidden' }
  return {
    ...rule,
    parameter: usedElsewhere,
    conditions: [...conditions, { name: 'by-others', expression: `!(${isService(settings)})` }],
    variables: [
      { name: 'lines', expression: lines },
      {
        name: 'rest0',
        expression: `variables.lines.filter(line, ${isNamed}).map(line, line.split(' ')[1])`,
      },
      ...chain(maxNamespacesChecked),
      { name: 'readsAll', expression: "authorizer.group('').resource('secrets').check('get').allowed()" },
      {
        name: 'actsAll',
        expression: `authorizer.group('${apiGroup}').resource('tasks').check('${actVerb}').allowed()`,
      },
      ...(exempt ? [exempt] : []),
      ...counts.flatMap((at) => [
        { name: `reads${at}`, expression: readsSecrets(`variables.rest${at}[0]`) },
        { name: `acts${at}`, expression: acts(`variables.rest${at}[0]`) },
      ]),
    ],
    validations: [
      { expression: `size(variables.rest${maxNamespacesChecked}) == 0 || ${everywhere}`, ...refusal },
      ...counts.map((at) => ({
        expression: `size(variables.rest${at}) == 0 || ${passes(at)} || ${everywhere}`,
        ...refusal,
      })),
    ],
  }
}

function elsewhereRule(settings: PolicySettings): PolicyRules {
  const parts = {
    name: 'used-elsewhere',
    kinds: guardedParts,
    conditions: [specChanged],
    message: `this is part of a task of another namespace that has not ended, and a Secret is given to it: making or changing it needs the right to get the Secrets there, or the verb ${actVerb} on tasks; wait until it ends, or do it through the API of the service, which knows whose Secrets they are`,
  }
  return notedRule(parts, settings)
}

/**
 * Asked only of a name that is noted, when its text changes. Whoever writes config maps everywhere writes those of the cluster
 * itself, and passes: its controllers are stopped by nothing here.
 */
function textRule(settings: PolicySettings): PolicyRules {
  const parts = {
    name: 'configmap-acting',
    kinds: [],
    resource: guardedTexts,
    conditions: [
      { name: 'text-changed', expression: "request.operation == 'CREATE' || object.?data != oldObject.?data" },
      { name: 'noted', expression: `${lines}.exists(line, ${isNamed})` },
    ],
    exempt: {
      name: 'writesEverywhere',
      expression: `authorizer.group('').resource('${guardedTexts}').check('update').allowed()`,
    },
    message: `this config map is part of a task that has not ended, and a Secret is given to it: making or changing it needs the right to get the Secrets of the namespace where that one is, or the verb ${actVerb} on tasks there; wait until it ends, or give the task another config map`,
  }
  return notedRule(parts, settings)
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
  const one = [
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
  // Where namespaces are isolated nothing is used elsewhere.
  return [...one, textRule(settings), ...(settings.isolated === 'true' ? [] : [elsewhereRule(settings)])]
}
