// The real service on the real API server: service accounts as bearers, and callers of an issuer, whom RBAC knows by prefixed names.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Collection } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import {
  describeOnCluster,
  dropNamespace,
  installDefinitions,
  makeNamespace,
  openClusterApi,
} from '../fixtures/cluster.ts'
import { audience, type Issuer, startIssuer } from '../fixtures/issuer.ts'
import { makeFolder, removeFolder, type Service, startService } from '../scenarios/service.ts'

const accounts: Collection = { group: '', version: 'v1', plural: 'serviceaccounts' }
const secrets: Collection = { group: '', version: 'v1', plural: 'secrets' }
const roles: Collection = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles' }
const bindings: Collection = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings' }

describeOnCluster('callers of the service on a cluster', () => {
  let api: KubernetesApi
  let issuer: Issuer
  let own: string
  let team: string
  let other: string
  const folders: string[] = []
  const services: Service[] = []

  async function grant(namespace: string, name: string, subject: object, rules: object[]): Promise<void> {
    const create = (collection: Collection, body: object) =>
      api.request({ verb: 'create', collection, namespace, body: { metadata: { name }, ...body } })
    await create(roles, { rules })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
    await create(bindings, { roleRef, subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }] })
  }

  async function start(...flags: string[]): Promise<Service> {
    // One replica on SQLite at a time.
    await services.at(-1)?.stop()
    const folder = makeFolder()
    folders.push(folder)
    const place = ['--mode', 'kubernetes', '--kubeconfig', process.env.KUBECONFIG ?? '', '--operator-namespace', own]
    // A service of all namespaces would start the tasks of other tests, which run at the same time.
    const served = ['--watch-namespace', `${team},${other}`]
    const oidc = ['--oidc-issuer', issuer.url, '--oidc-audience', audience, '--oidc-allowed-subjects', '*']
    const context = ['--context-token-profile', 'kontxt', '--context-token-issuer', issuer.url]
    const home = ['--oidc-namespace', team, '--context-token-namespace', team, '--context-token-audience', audience]
    const service = await startService({
      folder,
      flags: [
        ...place,
        ...served,
        ...oidc,
        ...context,
        ...home,
        '--worker-image',
        'svc',
        '--metrics-port',
        '0',
        '--gate-port',
        '0',
        ...flags,
      ],
    })
    services.push(service)
    return service
  }

  async function ask(service: Service, headers: Record<string, string>, line: string, body?: object): Promise<number> {
    const [method = '', path = ''] = line.split(' ')
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const init = { method, headers: { ...headers, ...type }, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(`${service.url}${path}`, init)
    await response.arrayBuffer()
    return response.status
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const guest = async (sub: string, groups: string[] = []) => bearer(await issuer.sign({ sub, groups }))
  const workload = async (sub: string, tctx: object = {}) => ({
    'txn-token': await issuer.signTransaction({ sub, tctx, scope: 'openid' }),
  })
  const naming = (namespace: string, name: string) => ({ name, namespace, spec: { secretRef: { name: 'key' } } })

  beforeAll(async () => {
    api = await openClusterApi()
    await installDefinitions(api)
    issuer = await startIssuer()
    own = await makeNamespace(api, 'dep-callers-own')
    team = await makeNamespace(api, 'dep-callers-team')
    other = await makeNamespace(api, 'dep-callers-other')
    for (const namespace of [team, other]) {
      const body = { metadata: { name: 'key' }, stringData: { token: 'value' } }
      await api.request({ verb: 'create', collection: secrets, namespace, body })
      const agents = { apiGroups: ['core.svc.ai'], resources: ['agents'], verbs: ['get', 'list', 'create'] }
      const keys = { apiGroups: [''], resources: ['secrets'], resourceNames: ['key'], verbs: ['get'] }
      await grant(namespace, 'ada', { kind: 'User', name: 'oidc:ada' }, [agents, keys])
      await grant(namespace, 'devs', { kind: 'Group', name: 'oidc:dev' }, [agents])
      await grant(namespace, 'batch', { kind: 'User', name: 'txn:batch' }, [agents])
    }
    await api.request({
      verb: 'create',
      collection: accounts,
      namespace: team,
      body: { metadata: { name: 'builder' } },
    })
    const builder = { apiGroup: '', kind: 'ServiceAccount', name: 'builder', namespace: team }
    await grant(team, 'builder', builder, [{ apiGroups: ['core.svc.ai'], resources: ['tasks'], verbs: ['list'] }])
  })

  afterAll(async () => {
    await services.at(-1)?.stop()
    for (const folder of folders) removeFolder(folder)
    for (const namespace of [own, team, other]) await dropNamespace(api, namespace)
    await issuer.stop()
    await api.close()
  })

  it('are identified by the service account token in the header Authorization, without any setting [AUTH-004]', async () => {
    const service = await start()
    const target = { collection: accounts, namespace: team, name: 'builder', subresource: 'token' }
    const body = { spec: { expirationSeconds: 600 } }
    const { status } = await api.request<{ status: { token: string } }>({ verb: 'create', ...target, body })
    const response = await fetch(`${service.url}/api/v1/auth/whoami`, { headers: bearer(status.token) })
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({
        authType: 'tokenReview',
        username: `system:serviceaccount:${team}:builder`,
        namespace: team,
      }),
    ])
    expect(await ask(service, bearer(status.token), 'GET /api/v1/tasks')).toBe(200)
    expect(await ask(service, bearer(status.token), 'GET /api/v1/agents')).toBe(403)
    for (const headers of [{}, bearer(`${status.token.slice(0, -8)}AAAAAAAA`), bearer('nonsense')])
      expect(await ask(service, headers as Record<string, string>, 'GET /api/v1/tasks')).toBe(401)
    expect(await ask(service, { authorization: `Basic ${status.token}` }, 'GET /api/v1/tasks')).toBe(401)
  })

  it('stay in one namespace whatever the mode of scopes is, and have no right in the cluster', async () => {
    const service = await start('--context-token-authz-mode', 'off')
    const callers = [
      await guest('ada', ['system:masters']),
      await workload('batch'),
      await workload('x', { namespace: team }),
    ]
    for (const [at, headers] of callers.entries()) {
      expect(await ask(service, headers, 'GET /api/v1/agents')).toBe(200)
      expect(await ask(service, headers, `POST /api/v1/agents`, naming(team, `inside-${at}`))).toBe(201)
      for (const line of ['agents', 'secrets', 'tasks', 'sessions', 'usage', 'audit'])
        expect([line, await ask(service, headers, `GET /api/v1/${line}?namespace=${other}`)]).toEqual([line, 403])
      expect(await ask(service, headers, 'POST /api/v1/agents', naming(other, 'outside'))).toBe(403)
      expect(await ask(service, headers, `DELETE /api/v1/secrets/key?namespace=${other}`)).toBe(403)
      for (const line of ['GET /api/v1/audit', 'GET /api/v1/tokens'])
        expect(await ask(service, headers, line)).toBe(403)
    }
    const elsewhere = await workload('x', { namespace: other })
    expect(await ask(service, elsewhere, `GET /api/v1/agents?namespace=${team}`)).toBe(403)
  })

  it('are reviewed by SubjectAccessReview under prefixed names, in every namespace that their roles reach [AUTH-014]', async () => {
    const prefixes = ['--oidc-username-prefix', 'oidc:', '--context-token-username-prefix', 'txn:']
    // The chart's default: it keeps accounts in their namespaces, and leaves these callers to RBAC.
    prefixes.push('--enforce-namespace-isolation')
    const service = await start('--oidc-authorization', 'rbac', '--context-token-authorization', 'rbac', ...prefixes)
    const [ada, dev] = [await guest('ada'), await guest('bob', ['dev'])]
    const batch = await workload('batch')
    const everywhere = [team, other].flatMap((namespace) => [ada, dev, batch].map((who) => [namespace, who] as const))
    for (const [namespace, who] of everywhere) {
      expect(await ask(service, who, `GET /api/v1/agents?namespace=${namespace}`)).toBe(200)
      for (const line of [
        'GET /api/v1/secrets',
        'GET /api/v1/tasks',
        'GET /api/v1/usage',
        'DELETE /api/v1/secrets/key',
      ])
        expect([line, await ask(service, who, `${line}?namespace=${namespace}`)]).toEqual([line, 403])
      // Naming a Secret takes the right to read that one.
      const named = await ask(service, who, 'POST /api/v1/agents', naming(namespace, 'named'))
      expect(named).toBe(who === ada ? 201 : 403)
    }
    const signed = await workload('batch', { namespace: team })
    expect(await ask(service, signed, 'GET /api/v1/agents')).toBe(200)
    expect(await ask(service, signed, `GET /api/v1/agents?namespace=${other}`)).toBe(403)
    // Neither another issuer's prefix, nor a display name, nor a group of the cluster's own helps.
    const strangers = [
      await guest('batch'),
      await workload('ada'),
      await guest('eve', ['system:masters', 'oidc:dev']),
      bearer(await issuer.sign({ sub: 'eve', preferred_username: 'ada', email: 'ada' })),
    ]
    for (const headers of strangers) {
      expect(await ask(service, headers, `GET /api/v1/agents?namespace=${team}`)).toBe(403)
      expect(await ask(service, headers, `GET /api/v1/secrets?namespace=${team}`)).toBe(403)
    }
  })
})
