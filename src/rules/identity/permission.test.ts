import { describe, expect, it } from 'vitest'
import { authorize, type Rights, resolveNamespace } from './permission.ts'

const user: Rights = { role: 'editor' }
const owner: Rights = { role: 'owner' }
const reader: Rights = { role: 'viewer' }
const bound: Rights = { role: 'editor', boundNamespace: 'team' }

describe('authorization', () => {
  it('lets an unbound caller work in every namespace', () => {
    expect(authorize(user, { verb: 'delete', kind: 'Task', namespace: 'any', name: 'x' })).toEqual({ allowed: true })
  })

  it('refuses every write of a read-only token and allows its reads', () => {
    for (const verb of ['create', 'update', 'delete'] as const) {
      expect(authorize(reader, { verb, kind: 'Agent', namespace: 'default' })).toMatchObject({ allowed: false })
    }
    expect(authorize(reader, { verb: 'list', kind: 'Agent', namespace: 'default' })).toEqual({ allowed: true })
  })

  it('keeps a bound token in its namespace and names both', () => {
    expect(authorize(bound, { verb: 'get', kind: 'Task', namespace: 'team' })).toEqual({ allowed: true })
    const decision = authorize(bound, { verb: 'get', kind: 'Task', namespace: 'other' })
    expect(decision).toMatchObject({
      allowed: false,
      reason: expect.stringMatching(/namespace not allowed.*team.*other/),
    })
  })

  it('allows the audit log to the owner and to those whom a cluster grants it', () => {
    const access = { verb: 'list', kind: 'Audit' } as const
    expect(authorize(owner, access).allowed).toBe(true)
    expect(authorize({ ...user, cluster: {} }, access).allowed).toBe(true)
    for (const role of ['viewer', 'runner', 'editor'] as const) expect(authorize({ role }, access).allowed).toBe(false)
  })

  it('refuses a model every access to secrets, whoever it works for', () => {
    for (const verb of ['get', 'list', 'use', 'create'] as const) {
      expect(authorize({ ...owner, isModel: true }, { verb, kind: 'Secret', namespace: 'team' }).allowed).toBe(false)
    }
    expect(authorize({ ...user, isModel: true }, { verb: 'create', kind: 'Task', namespace: 'team' }).allowed).toBe(
      true,
    )
  })

  it('lets an agent token use its own provider and nothing else', () => {
    const agent = { ...user, agent: { provider: { namespace: 'team', name: 'vendor' } } }
    const use = { verb: 'use', kind: 'Provider', namespace: 'team' } as const
    expect(authorize(agent, { ...use, name: 'vendor' }).allowed).toBe(true)
    expect(authorize(agent, use).allowed).toBe(true)
    const others = [
      { ...use, name: 'other' },
      { ...use, namespace: 'elsewhere', name: 'vendor' },
      { verb: 'get', kind: 'Provider', namespace: 'team', name: 'vendor' },
      { verb: 'use', kind: 'Secret', namespace: 'team', name: 'vendor' },
      { verb: 'list', kind: 'Task', namespace: 'team' },
      { verb: 'get', kind: 'Metrics' },
    ] as const
    for (const access of others) expect(authorize(agent, access).allowed).toBe(false)
  })

  it('allows tokens to the owner only', () => {
    expect(authorize(user, { verb: 'list', kind: 'Token' })).toMatchObject({ allowed: false })
    expect(authorize(owner, { verb: 'create', kind: 'Token' })).toEqual({ allowed: true })
  })
})

describe('the namespace of a request', () => {
  it('is the named one, else the one bound to the token, else the caller’s own, else default', () => {
    expect(resolveNamespace(bound, 'named')).toBe('named')
    expect(resolveNamespace(bound, undefined)).toBe('team')
    expect(resolveNamespace({ ...user, namespace: 'own' }, undefined)).toBe('own')
    expect(resolveNamespace(user, undefined)).toBe('default')
  })
})
