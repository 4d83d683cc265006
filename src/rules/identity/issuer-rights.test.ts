import { describe, expect, it } from 'vitest'
import { findStanding, type IssuerRights } from './issuer-rights.ts'

const ada = { subject: 'ada', groups: ['dev', 'ops'] }
const namespace = 'guests'

describe('the rights of an issuer’s caller', () => {
  it('are those of an editor in one namespace', () => {
    expect(findStanding(ada, { namespace })).toEqual({ role: 'editor', namespace, boundNamespace: namespace })
  })

  it('are bound to the namespace that the issuer signed', () => {
    const signed = { namespace: 'team', boundNamespace: 'team' }
    expect(findStanding({ ...ada, namespace: 'team' }, { namespace })).toMatchObject(signed)
    const cluster = { username: 'ctx:', groups: 'ctx:' }
    expect(findStanding({ ...ada, namespace: 'team' }, { namespace, cluster })).toMatchObject(signed)
  })

  it.each([
    [[{ group: 'dev', role: 'viewer' }], 'viewer'],
    [
      [
        { group: 'ops', role: 'runner' },
        { group: 'dev', role: 'viewer' },
      ],
      'runner',
    ],
    [
      [
        { group: '*', role: 'viewer' },
        { group: 'admins', role: 'owner' },
      ],
      'viewer',
    ],
    [[{ group: 'admins', role: 'owner' }], undefined],
    [[], undefined],
  ] as [IssuerRights['groupRoles'], string | undefined][])(
    'are, with the groups %j, those of the role %s',
    (groupRoles, role) => {
      expect(findStanding(ada, { namespace, ...(groupRoles && { groupRoles }) })?.role).toBe(role)
    },
  )

  it('are not bound to a namespace for an owner', () => {
    const standing = findStanding(ada, { namespace, groupRoles: [{ group: 'dev', role: 'owner' }] })
    expect(standing).toEqual({ role: 'owner', namespace })
  })
})

describe('the user that the cluster is asked about', () => {
  const cluster = { username: 'https://issuer.example#', groups: 'oidc:' }

  it('has names from the issuer alone, and the group of all authenticated users', () => {
    expect(findStanding(ada, { namespace, cluster })).toEqual({
      role: 'editor',
      namespace,
      cluster: { user: 'https://issuer.example#ada', groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'] },
    })
  })

  it('never has a name of the cluster itself, whatever the prefixes are', () => {
    const bare = { namespace, cluster: { username: '', groups: '' } }
    expect(findStanding({ subject: 'system:admin', groups: [] }, bare)).toBeUndefined()
    const masters = findStanding({ subject: 'ada', groups: ['system:masters', 'dev'] }, bare)
    expect(masters?.cluster?.groups).toEqual(['dev', 'system:authenticated'])
    const half = { namespace, cluster: { username: 'system', groups: 'sys' } }
    const spliced = findStanding({ subject: ':admin', groups: ['tem:masters'] }, half)
    expect(spliced).toBeUndefined()
  })
})
