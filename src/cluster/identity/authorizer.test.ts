import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../../test/fixtures/time.ts'
import type { Access } from '../../contract/api/identity/access.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { KubernetesApi } from '../api.ts'
import { createReviewAuthorizer } from './authorizer.ts'

const caller: Caller = {
  authType: 'tokenReview',
  username: 'system:serviceaccount:team:builder',
  uid: 'u1',
  groups: ['system:authenticated'],
  cluster: {
    user: 'system:serviceaccount:team:builder',
    uid: 'u1',
    groups: ['system:authenticated'],
    extra: { scopes: ['a'] },
  },
  namespace: 'team',
  role: 'editor',
  serverTools: true,
}

function open(status: object = { allowed: true }) {
  const clock = createManualClock()
  const asked: object[] = []
  const answer = { status }
  const request = async ({ body }: { body?: unknown }) => {
    asked.push((body as { spec: object }).spec)
    return answer
  }
  const api = { request } as Pick<KubernetesApi, 'request'>
  const authorizer = createReviewAuthorizer({ api, clock, operatorNamespace: 'svc-system' })
  const check = (access: Access, who: Caller = caller) => authorizer.authorize(who, access)
  return { clock, asked, answer, check }
}

describe('rights by SubjectAccessReview', () => {
  it('are reviewed with everything known of the caller', async () => {
    const { asked, check } = open()
    await check({ verb: 'get', kind: 'Task', namespace: 'team', name: 'one' })
    expect(asked).toEqual([
      {
        user: caller.username,
        uid: 'u1',
        groups: ['system:authenticated'],
        extra: { scopes: ['a'] },
        resourceAttributes: { group: 'core.svc.ai', resource: 'tasks', verb: 'get', namespace: 'team', name: 'one' },
      },
    ])
  })

  it.each([
    [{ verb: 'update', kind: 'Agent', namespace: 'team', name: 'a' }, 'core.svc.ai', 'agents'],
    [{ verb: 'delete', kind: 'RepositoryScan', namespace: 'team', name: 'a' }, 'core.svc.ai', 'repositoryscans'],
    [{ verb: 'delete', kind: 'Secret', namespace: 'team', name: 'a' }, '', 'secrets'],
    [{ verb: 'get', kind: 'Session', namespace: 'team', name: 'a' }, 'core.svc.ai', 'sessions'],
  ] as [Access, string, string][])(
    'to %o are rights to %s/%s, with the same verb [AUTH-014]',
    async (access, group, resource) => {
      const { asked, check } = open()
      await check(access)
      const { verb, namespace, name } = access
      expect(asked).toMatchObject([{ resourceAttributes: { group, resource, verb, namespace, name } }])
    },
  )

  it.each([
    ['use', 'Secret', 'get', 'secrets'],
    ['operate', 'RepositoryMonitor', 'update', 'repositorymonitors'],
  ] as const)('to %s a %s are rights to %s %s', async (verb, kind, asVerb, resource) => {
    const { asked, check } = open()
    await check({ verb, kind, namespace: 'team', name: 'a' })
    expect(asked).toMatchObject([{ resourceAttributes: { resource, verb: asVerb, name: 'a' } }])
  })

  it('to create and to list are asked for without a name, as the API server does', async () => {
    const { asked, check } = open()
    await check({ verb: 'create', kind: 'Secret', namespace: 'team', name: 'key' })
    await check({ verb: 'list', kind: 'Usage' })
    expect(asked).toMatchObject([
      { resourceAttributes: { group: '', resource: 'secrets', verb: 'create', namespace: 'team' } },
      { resourceAttributes: { group: 'core.svc.ai', resource: 'usages', verb: 'list' } },
    ])
    expect(JSON.stringify(asked)).not.toContain('"name"')
  })

  it('to metrics are rights to their path', async () => {
    const { asked, check } = open()
    await check({ verb: 'get', kind: 'Metrics' })
    expect(asked).toMatchObject([{ nonResourceAttributes: { verb: 'get', path: '/metrics' } }])
  })

  it('that are missing are reported with user, verb, resource and the API server’s reason', async () => {
    const { check } = open({ allowed: false, reason: 'no rule matches' })
    expect(await check({ verb: 'create', kind: 'Task', namespace: 'team' })).toEqual({
      allowed: false,
      reason:
        '"system:serviceaccount:team:builder" may not create tasks in namespace "team" (no rule matches); bind a role that allows it',
    })
  })

  it.each([[{}], [{ allowed: true, denied: true }], [{ allowed: 'yes' }]])(
    'are not granted by the status %o',
    async (status) => {
      const { check } = open(status)
      expect(await check({ verb: 'list', kind: 'Task' })).toMatchObject({ allowed: false })
    },
  )

  it('are cached for 10 s, granted and refused alike [AUTH-014]', async () => {
    const { answer, asked, check, clock } = open()
    const access: Access = { verb: 'list', kind: 'Task', namespace: 'team' }
    await check(access)
    answer.status = { allowed: false }
    clock.jump(9_999)
    expect(await check(access)).toEqual({ allowed: true })
    clock.jump(1)
    expect(await check(access)).toMatchObject({ allowed: false })
    answer.status = { allowed: true }
    expect(await check(access)).toMatchObject({ allowed: false })
    expect(asked).toHaveLength(2)
  })

  it.each(['kube-system', 'kube-public', 'kube-node-lease', 'svc-system'])(
    'to change anything or to read secrets in %s are never granted',
    async (namespace) => {
      const { asked, check } = open()
      for (const access of [
        { verb: 'create', kind: 'Task', namespace },
        { verb: 'delete', kind: 'Agent', namespace, name: 'a' },
        { verb: 'get', kind: 'Secret', namespace, name: 'database' },
        { verb: 'list', kind: 'Secret', namespace },
      ] as Access[]) {
        expect(await check(access)).toMatchObject({ allowed: false, reason: expect.stringContaining(namespace) })
      }
      expect(asked).toEqual([])
      expect(await check({ verb: 'list', kind: 'Task', namespace })).toEqual({ allowed: true })
    },
  )

  it('are reviewed under the names by which the cluster knows the caller, whatever other names it has', async () => {
    const { asked, check } = open()
    const cluster = { user: 'oidc:ada', groups: ['oidc:dev'] }
    await check({ verb: 'list', kind: 'Task' }, { ...caller, authType: 'oidc', username: 'kubernetes-admin', cluster })
    expect(asked).toMatchObject([cluster])
    expect(JSON.stringify(asked)).not.toContain('kubernetes-admin')
  })

  it.each(['oidc', 'contextToken'] as const)(
    'are not reviewed for callers unknown to the cluster (%s), who are still refused in guarded namespaces',
    async (authType) => {
      const { asked, check } = open({ allowed: false })
      const { cluster: _known, ...unknown } = caller
      const guest: Caller = { ...unknown, authType, username: 'kubernetes-admin' }
      expect(await check({ verb: 'create', kind: 'Task', namespace: 'team' }, guest)).toEqual({ allowed: true })
      for (const access of [
        { verb: 'create', kind: 'Task', namespace: 'kube-system' },
        { verb: 'get', kind: 'Secret', namespace: 'svc-system', name: 'database' },
      ] as Access[]) {
        expect(await check(access, guest)).toMatchObject({ allowed: false })
      }
      expect(asked).toEqual([])
    },
  )
})
