import { describe, expect, it } from 'vitest'
import { buildPolicies, listPolicyRules } from '../../scripts/admission/policies.ts'
import { kindNames, kinds } from '../../src/contract/kinds/index.ts'
import { each, listReferencePaths } from '../../src/contract/schema/reference-paths.ts'
import { classifyUrl, metadataNetworks, specialNetworks } from '../../src/rules/providers/address.ts'
import { policySettings } from '../fixtures/policy-settings.ts'

const rules = listPolicyRules(policySettings)
const places = kindNames.flatMap((kind) => listReferencePaths(kind).map((path) => ({ kind, ...path })))

/** The last parts that an expression must select for a path; those of the entries of a list come after the list. */
function selects(path: readonly string[]): string {
  const [list, entry] = path.join('.').split(`.${each}`)
  const chain = (root: string, text: string) =>
    `${root}${text
      .split('.')
      .filter(Boolean)
      .map((part) => `.?${part}`)
      .join('')}`
  return entry === undefined
    ? `${chain('object.spec', list ?? '')}.?name`
    : `${chain('object.spec', list ?? '')}.orValue([]).map(entry`
}

describe('policies of references', () => {
  it.each(places)('check the right to read $target at $path of $kind', ({ kind, target, path, crosses }) => {
    const plural = target === 'Secret' ? 'secrets' : target === 'ConfigMap' ? 'configmaps' : kinds[target].plural
    const policy = rules.find(({ name }) => name === `${kinds[kind].singular}-${plural}`)
    const names = policy?.variables?.find(({ name }) => name === 'rest0')?.expression
    expect(names).toContain(selects(path))
    const checks = policy?.validations.filter(({ expression }) => expression.includes(`.resource('${plural}')`))
    expect(checks?.length).toBeGreaterThan(0)
    if (crosses) expect(policy?.validations.some(({ message }) => message?.includes('isolated'))).toBe(true)
  })

  it('ask for the Secrets of a task also when it is scheduled or resumed, and not when it is suspended', () => {
    const policy = rules.find(({ name }) => name === 'task-secrets')
    const terms = policy?.conditions?.[0]?.expression.split(' || ') ?? []
    for (const field of ['schedule', 'timeZone'])
      expect(terms).toContain(`object.spec.?${field} != oldObject.spec.?${field}`)
    expect(terms.filter((term) => term.includes('suspend'))).toEqual([
      'oldObject.spec.?suspend.orValue(false) && !object.spec.?suspend.orValue(false)',
    ])
  })

  it('stay within what the server lets them spend: 28 checks a policy, two an expression', () => {
    for (const { name, validations, variables = [] } of rules) {
      const expressions = [...validations, ...variables].map(({ expression }) => expression.split('.check(').length - 1)
      expect(
        expressions.reduce((sum, count) => sum + count, 0),
        name,
      ).toBeLessThanOrEqual(28)
      expect(Math.max(...expressions), name).toBeLessThanOrEqual(1)
    }
  })
})

describe('the policy of what is used elsewhere', () => {
  const find = (isolated: string) =>
    (buildPolicies({ ...policySettings, isolated }) as { metadata: { name: string }; spec: object }[]).filter(
      ({ metadata }) => metadata.name === 'svc-used-elsewhere',
    )

  it('has its parameter in the namespace of the service, and refuses all without it', () => {
    const [policy, binding] = find('false')
    expect(policy?.spec).toMatchObject({ paramKind: { apiVersion: 'policies.svc.ai/v1alpha1', kind: 'UsedElsewhere' } })
    const place = { name: 'svc-used-elsewhere', namespace: 'svc-system', parameterNotFoundAction: 'Deny' }
    expect(binding?.spec).toMatchObject({ paramRef: place })
  })

  it('is not there where namespaces are isolated', () => {
    expect(find('true')).toEqual([])
  })
})

describe('the policy of config maps', () => {
  const find = (isolated: string) =>
    (
      buildPolicies({ ...policySettings, isolated }) as { metadata: { name: string }; spec: Record<string, unknown> }[]
    ).filter(({ metadata }) => metadata.name === 'svc-configmap-acting')

  it.each(['true', 'false'])('stops nothing when it fails, nor without its parameter; isolated: %s', (isolated) => {
    const [policy, binding] = find(isolated)
    expect(policy?.spec.failurePolicy).toBe('Ignore')
    expect(binding?.spec.paramRef).toMatchObject({ parameterNotFoundAction: 'Allow' })
  })

  it('asks of changed texts with a noted name alone, outside the namespaces of the cluster', () => {
    const [policy] = find('true')
    const conditions = policy?.spec.matchConditions as { name: string }[]
    expect(conditions.map(({ name }) => name)).toEqual(['text-changed', 'noted', 'by-others'])
    const outside = { operator: 'NotIn', values: ['kube-system', 'kube-public', 'kube-node-lease'] }
    const rule = { apiGroups: [''], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }
    const matched = { namespaceSelector: { matchExpressions: [outside] }, resourceRules: [rule] }
    expect(policy?.spec.matchConstraints).toMatchObject(matched)
  })
})

describe('every policy', () => {
  const objects = buildPolicies(policySettings) as {
    kind: string
    metadata: { name: string }
    spec: Record<string, unknown>
  }[]

  it('fails closed but for those over kinds of the cluster, and its binding denies', () => {
    const open: string[] = []
    for (const { kind, metadata, spec } of objects) {
      if (kind !== 'ValidatingAdmissionPolicy') expect(spec.validationActions).toEqual(['Deny'])
      else if (!JSON.stringify(spec.matchConstraints).includes('core.svc.ai')) open.push(metadata.name)
      else expect(spec.failurePolicy).toBe('Fail')
    }
    expect(open).toEqual(['svc-configmap-acting'])
  })

  it('has a name of its own and a binding', () => {
    const of = (kind: string) => objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name)
    expect(new Set(of('ValidatingAdmissionPolicy')).size).toBe(of('ValidatingAdmissionPolicy').length)
    expect(of('ValidatingAdmissionPolicyBinding')).toEqual(of('ValidatingAdmissionPolicy'))
  })
})

describe('the networks that policies know', () => {
  const urlOf = (network: string) => {
    const [address = ''] = network.split('/')
    return address.includes(':') ? `http://[${address}]/` : `http://${address}/`
  }

  it('are those that REST refuses', () => {
    for (const network of specialNetworks()) expect(classifyUrl(urlOf(network), [], []), network).not.toBe('public')
    for (const network of metadataNetworks()) expect(classifyUrl(urlOf(network), [], []), network).toBe('metadata')
    expect(specialNetworks()).toEqual(expect.arrayContaining(['10.0.0.0/8', '127.0.0.0/8', '::1/128', 'fc00::/7']))
  })
})
