import { describe, expect, it } from 'vitest'
import type { Caller } from '../ports/identity/identity.ts'
import { authorize, resolveNamespace } from '../rules/identity/permission.ts'
import { assignNamespaces, guardNamespace, type NamespacePolicy } from './namespace-policy.ts'

const base: Caller = {
  authType: 'tokenReview',
  username: 'ann',
  groups: [],
  role: 'editor',
  serverTools: true,
}

function assign(caller: Caller, policy: NamespacePolicy): Promise<Caller> {
  const inner = { authenticate: async () => caller }
  return assignNamespaces(inner, policy).authenticate({ token: 't', source: 'bearer' })
}

describe('isolation of callers in their namespaces', () => {
  const isolated = { served: [], isolated: true }

  it('allows a caller its own namespace only, whatever the request names', async () => {
    const caller = await assign({ ...base, namespace: 'team' }, isolated)
    expect(resolveNamespace(caller, undefined)).toBe('team')
    expect(authorize(caller, { verb: 'get', kind: 'Task', namespace: 'team' }).allowed).toBe(true)
    expect(authorize(caller, { verb: 'get', kind: 'Task', namespace: 'other' })).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/"team".*"other"/),
    })
  })

  it('refuses every caller without a namespace, except the owner', async () => {
    await expect(assign(base, isolated)).rejects.toMatchObject({ reason: 'Forbidden' })
    const owner: Caller = { ...base, role: 'owner' }
    expect(await assign(owner, isolated)).toBe(owner)
  })

  it.each(['oidc', 'contextToken'] as const)('leaves a caller by %s to RBAC, where that decides', async (authType) => {
    const cluster = { user: 'oidc:ann', groups: [] }
    const caller: Caller = { ...base, authType, namespace: 'usual', cluster }
    const assigned = await assign(caller, isolated)
    expect(assigned.boundNamespace).toBeUndefined()
    expect(resolveNamespace(assigned, 'team')).toBe('team')
    // What the issuer signed binds all the same, and so does the namespace of a service account.
    expect((await assign({ ...caller, boundNamespace: 'signed' }, isolated)).boundNamespace).toBe('signed')
    expect((await assign({ ...caller, authType: 'tokenReview' }, isolated)).boundNamespace).toBe('usual')
  })

  it('leaves callers as they are when it is off', async () => {
    const caller = { ...base, namespace: 'team' }
    expect(await assign(caller, { served: [], isolated: false })).toBe(caller)
  })

  it('returns the same object for the same caller, as caches need it', async () => {
    const caller = { ...base, namespace: 'team' }
    const assigning = assignNamespaces({ authenticate: async () => caller }, isolated)
    const ask = () => assigning.authenticate({ token: 't', source: 'bearer' })
    expect(await ask()).toBe(await ask())
  })
})

describe('the namespaces that are served', () => {
  const policy = { served: ['team', 'next'], isolated: false }

  it('put callers without a namespace of their own into the first of them', async () => {
    expect(resolveNamespace(await assign(base, policy), undefined)).toBe('team')
    expect(resolveNamespace(await assign({ ...base, namespace: 'own' }, policy), undefined)).toBe('own')
  })

  it('give no caller a namespace outside the one its token is bound to', async () => {
    const bound = await assign({ ...base, boundNamespace: 'own', namespace: 'own' }, policy)
    expect(authorize(bound, { verb: 'get', kind: 'Task', namespace: 'team' }).allowed).toBe(false)
  })

  it('are the only ones in which any action is allowed, even to the owner', async () => {
    const requests: string[] = []
    const next = {
      authorize: async () => {
        requests.push('next')
        return { allowed: true as const }
      },
    }
    const { authorize: decide } = guardNamespace(['team', 'next'], next)
    const owner: Caller = { ...base, role: 'owner' }
    expect(await decide(owner, { verb: 'get', kind: 'Task', namespace: 'other' })).toEqual({
      allowed: false,
      reason: 'namespace not allowed: "other" is not served here, but "team" and "next" are',
    })
    expect(requests).toEqual([])
    expect((await decide(owner, { verb: 'get', kind: 'Task', namespace: 'team' })).allowed).toBe(true)
    expect((await decide(owner, { verb: 'get', kind: 'Task', namespace: 'next' })).allowed).toBe(true)
    expect((await decide(owner, { verb: 'list', kind: 'Token' })).allowed).toBe(true)
    expect(requests).toHaveLength(3)
    expect(await guardNamespace(['team'], undefined).authorize(base, { verb: 'list', kind: 'Usage' })).toEqual({
      allowed: true,
    })
  })
})
