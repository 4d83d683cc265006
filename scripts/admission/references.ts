// An author needs `get` on every object that a resource refers to, also through kubectl.
import { type Kind, kinds } from '../../src/contract/kinds/index.ts'
import type { ReferenceTarget } from '../../src/contract/kinds/resources/references.ts'
import {
  each,
  listGuardedFields,
  listReferencePaths,
  type ReferencePath,
} from '../../src/contract/schema/reference-paths.ts'
import {
  apiGroup,
  type CelValidation,
  isService,
  type PolicyRules,
  type PolicySettings,
  type Variable,
} from './policy.ts'

/** One check costs 350,000 of the 10,000,000 that a policy may spend per request; this many and one more fit. */
export const maxReferencesChecked = 16

const cores: Record<'Secret' | 'ConfigMap', string> = { Secret: 'secrets', ConfigMap: 'configmaps' }

function resourceOf(target: ReferenceTarget): { group: string; resource: string } {
  if (target === 'Secret' || target === 'ConfigMap') return { group: '', resource: cores[target] }
  return { group: apiGroup, resource: kinds[target].plural }
}

/** Every part of the path is optional, so that a missing one is not an error. */
function select(root: string, parts: readonly string[]): string {
  return [root, ...parts.map((part) => `?${part}`)].join('.')
}

type NamingField = Pick<ReferencePath, 'path' | 'crosses'>

/** `namespace/name` of the reference, as text; it ends in `/` when there is no name. */
function writeName(root: string, { path, crosses }: NamingField): string {
  const space = crosses ? `${select(root, [...path, 'namespace'])}.orValue(request.namespace)` : 'request.namespace'
  return `${space} + '/' + ${select(root, [...path, 'name'])}.orValue('')`
}

/** The names found at a path, as a list. */
function listNames({ path, crosses }: NamingField): string {
  const at = path.indexOf(each)
  if (at < 0) return `[${writeName('object.spec', { path, crosses })}]`
  const inner = path.slice(at + 1)
  if (inner.includes(each)) throw new Error(`a list within a list is not covered: ${path.join('.')}`)
  const list = `${select('object.spec', path.slice(0, at))}.orValue([])`
  return `${list}.map(entry, ${writeName('entry', { path: inner, crosses })})`
}

function writeField({ path }: ReferencePath): string {
  return ['spec', ...path].join('.').replaceAll(`.${each}`, each)
}

function writeCheck(target: ReferenceTarget, namespace: string, name?: string): string {
  const { group, resource } = resourceOf(target)
  const named = name === undefined ? '' : `.name(${name})`
  return `authorizer.group('${group}').resource('${resource}').namespace(${namespace})${named}.check('get').allowed()`
}

/** `rest0` holds the names to check, `rest1` those without the first, and so on: CEL loops cannot contain a check. */
export function chain(count: number): Variable[] {
  return Array.from({ length: count }, (_, at) => ({
    name: `rest${at + 1}`,
    expression: `variables.rest${at}.filter(name, name != variables.rest${at}[0])`,
  }))
}

const own = "startsWith(request.namespace + '/')"

/** An author who may read the whole namespace is not checked for each name. */
function checkName(target: ReferenceTarget, at: number, { fields, isMany }: Named): CelValidation {
  const first = `variables.rest${at}[0]`
  const check = writeCheck(target, `${first}.split('/')[0]`, `${first}.split('/')[1]`)
  const all = isMany ? `(variables.all && ${first}.${own}) || ` : ''
  return {
    expression: `size(variables.rest${at}) == 0 || ${all}${check}`,
    messageExpression: `request.userInfo.username + ' may not get the ${target} "' + variables.rest${at}[?0].orValue('') + '", which ${fields} names; ask for a role that allows it'`,
    reason: 'Forbidden',
  }
}

type Named = { fields: string; isMany: boolean }

function listVariables(target: ReferenceTarget, paths: readonly ReferencePath[], isMany: boolean): Variable[] {
  const named = paths.map(listNames).join(' + ')
  return [
    { name: 'rest0', expression: `(${named}).filter(name, !name.endsWith('/'))` },
    // Separate from the names: a message expression cannot use what an authorizer answered.
    ...(isMany ? [{ name: 'all', expression: writeCheck(target, 'request.namespace') }] : []),
  ]
}

function checkIsolation(fields: string, settings: PolicySettings): CelValidation {
  return {
    expression: `!${settings.isolated} || ${isService(settings)} || variables.rest0.all(name, name.${own})`,
    message: `${fields} must not refer to another namespace: namespaces are isolated here`,
    reason: 'Forbidden',
  }
}

function refuseMore(target: ReferenceTarget, plural: string): CelValidation {
  return {
    expression: `size(variables.rest${maxReferencesChecked}) == 0 || (variables.all && variables.rest${maxReferencesChecked}.all(name, name.${own}))`,
    message: `one of the ${plural} names at most ${maxReferencesChecked} different objects of kind ${target}, unless its author may read all of the namespace`,
    reason: 'Forbidden',
  }
}

const writeChange = (field: string) => `object.spec.?${field} != oldObject.spec.?${field}`

/** Whoever has a task run decides when it gets its Secrets, with which files and agent. Suspending gives it nothing. */
export const starts = [
  writeChange('schedule'),
  writeChange('timeZone'),
  'oldObject.spec.?suspend.orValue(false) && !object.spec.?suspend.orValue(false)',
]
const startsWith = (kind: Kind, target: ReferenceTarget) => kind === 'Task' && target === 'Secret'

function writeRules(kind: Kind, target: ReferenceTarget, settings: PolicySettings): PolicyRules[] {
  const paths = listReferencePaths(kind).filter((path) => path.target === target)
  if (paths.length === 0) return []
  const isOpen = paths.some(({ path }) => path.includes(each))
  const count = isOpen ? maxReferencesChecked : paths.length
  const fields = paths.map(writeField).join(' or ')
  const changed = [...listGuardedFields(kind).map(writeChange), ...(startsWith(kind, target) ? starts : [])]
  const checks = Array.from({ length: count }, (_, at) => checkName(target, at, { fields, isMany: count > 1 }))
  return [
    {
      name: `${kinds[kind].singular}-${resourceOf(target).resource}`,
      kinds: [kind],
      conditions: [{ name: 'use-changed', expression: `request.operation == 'CREATE' || ${changed.join(' || ')}` }],
      variables: [...listVariables(target, paths, count > 1), ...chain(isOpen ? count : count - 1)],
      validations: [
        ...(paths.some(({ crosses }) => crosses) ? [checkIsolation(fields, settings)] : []),
        ...(isOpen ? [refuseMore(target, kinds[kind].plural)] : []),
        ...checks,
      ],
    },
  ]
}

const targets = Object.keys({ Secret: 1, ConfigMap: 1, Agent: 1, Provider: 1, Task: 1 } satisfies Record<
  ReferenceTarget,
  1
>) as ReferenceTarget[]

/** One policy for each kind and each sort of object that it refers to. */
export function referenceRules(settings: PolicySettings): PolicyRules[] {
  return (Object.keys(kinds) as Kind[]).flatMap((kind) =>
    targets.flatMap((target) => writeRules(kind, target, settings)),
  )
}
