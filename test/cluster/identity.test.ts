// Identity against the real API server: tokens of real service accounts, rights from real roles.
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Collection } from '../../src/cluster/api/paths.ts'
import type { KubernetesApi } from '../../src/cluster/api.ts'
import { createReviewAuthenticator } from '../../src/cluster/identity/authenticator.ts'
import { createReviewAuthorizer } from '../../src/cluster/identity/authorizer.ts'
import type { Access } from '../../src/contract/api/identity/access.ts'
import { systemClock as clock } from '../../src/lib/system-clock.ts'
import type { Caller } from '../../src/ports/identity/identity.ts'
import { describeOnCluster, dropNamespace, makeNamespace, openClusterApi } from '../fixtures/cluster.ts'

const accounts: Collection = { group: '', version: 'v1', plural: 'serviceaccounts' }
const roles: Collection = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'roles' }
const bindings: Collection = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'rolebindings' }
const name = 'builder'

describeOnCluster('identity on a cluster', () => {
  let api: KubernetesApi
  let namespace: string

  async function requestToken(spec: object): Promise<string> {
    const target = { collection: accounts, namespace, name, subresource: 'token' }
    const answer = await api.request<{ status: { token: string } }>({ verb: 'create', ...target, body: { spec } })
    return answer.status.token
  }

  function authenticate(token: string): Promise<Caller> {
    return createReviewAuthenticator({ api, clock }).authenticate({ token, source: 'bearer' })
  }

  async function grant(rules: object[]): Promise<void> {
    await api.request({ verb: 'create', collection: roles, namespace, body: { metadata: { name }, rules } })
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
    const subjects = [{ kind: 'ServiceAccount', name, namespace }]
    await api.request({
      verb: 'create',
      collection: bindings,
      namespace,
      body: { metadata: { name }, roleRef, subjects },
    })
  }

  beforeAll(async () => {
    api = await openClusterApi()
    namespace = await makeNamespace(api, 'dep-identity')
    await api.request({ verb: 'create', collection: accounts, namespace, body: { metadata: { name } } })
    await grant([
      { apiGroups: ['core.svc.ai'], resources: ['tasks', 'sessions'], verbs: ['get', 'list', 'create'] },
      { apiGroups: ['core.svc.ai'], resources: ['agents'], resourceNames: ['mine'], verbs: ['update'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ])
  })

  afterAll(async () => {
    await dropNamespace(api, namespace)
    await api.close()
  })

  it('identifies a service account and its namespace by its token [AUTH-005, MODE-009]', async () => {
    const caller = await authenticate(await requestToken({ expirationSeconds: 600 }))
    expect(caller).toMatchObject({
      authType: 'tokenReview',
      username: `system:serviceaccount:${namespace}:${name}`,
      uid: expect.any(String),
      namespace,
      role: 'editor',
    })
    expect(caller.groups).toContain(`system:serviceaccounts:${namespace}`)
  })

  it("refuses a worker's token, whose audience is the worker API [AUTH-007]", async () => {
    const token = await requestToken({ audiences: ['svc-internal'], expirationSeconds: 600 })
    await expect(authenticate(token)).rejects.toMatchObject({ reason: 'Unauthenticated' })
  })

  it('refuses a token that was tampered with, and one of a deleted account', async () => {
    const token = await requestToken({ expirationSeconds: 600 })
    await expect(authenticate(`${token.slice(0, -8)}AAAAAAAA`)).rejects.toMatchObject({ reason: 'Unauthenticated' })
    await expect(authenticate('nonsense')).rejects.toMatchObject({ reason: 'Unauthenticated' })
  })

  it.each([
    [{ verb: 'create', kind: 'Task' }, true],
    [{ verb: 'get', kind: 'Task', name: 'one' }, true],
    [{ verb: 'delete', kind: 'Task', name: 'one' }, false],
    [{ verb: 'list', kind: 'Session' }, true],
    [{ verb: 'delete', kind: 'Session', name: 'one' }, false],
    [{ verb: 'update', kind: 'Agent', name: 'mine' }, true],
    [{ verb: 'update', kind: 'Agent', name: 'another' }, false],
    [{ verb: 'create', kind: 'Secret', name: 'key' }, true],
    [{ verb: 'list', kind: 'Secret' }, false],
    [{ verb: 'list', kind: 'Usage' }, false],
  ] as [Omit<Access, 'namespace'>, boolean][])(
    'finds %o %s, as the role of the caller says [AUTH-014]',
    async (access, allowed) => {
      const caller = await authenticate(await requestToken({ expirationSeconds: 600 }))
      const authorizer = createReviewAuthorizer({ api, clock, operatorNamespace: 'svc-system' })
      expect((await authorizer.authorize(caller, { ...access, namespace })).allowed).toBe(allowed)
    },
  )

  it('gives a role in one namespace no right in another, nor in all namespaces', async () => {
    const caller = await authenticate(await requestToken({ expirationSeconds: 600 }))
    const authorizer = createReviewAuthorizer({ api, clock, operatorNamespace: 'svc-system' })
    const check = (access: Access) => authorizer.authorize(caller, access)
    expect(await check({ verb: 'list', kind: 'Task', namespace: 'default' })).toMatchObject({ allowed: false })
    expect(await check({ verb: 'list', kind: 'Task' })).toMatchObject({
      allowed: false,
      reason: expect.stringContaining('in all namespaces'),
    })
    expect(await check({ verb: 'list', kind: 'Metrics' })).toMatchObject({ allowed: false })
  })
})
