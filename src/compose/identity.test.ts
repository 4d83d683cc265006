import { describe, expect, it } from 'vitest'
import { loadConfig } from '../config/load.ts'
import { contextTokenRightsOf, oidcRightsOf } from './identity.ts'

const issuer = 'https://issuer.example'
const load = (flags: object) =>
  loadConfig({ flags: { oidcIssuer: issuer, contextTokenIssuer: issuer, ...flags }, env: {} })
const rbac = { mode: 'kubernetes', oidcAuthorization: 'rbac', contextTokenAuthorization: 'rbac' }

describe('the rights that an issuer’s callers get', () => {
  it('are those of editors unless the settings say otherwise', () => {
    expect(oidcRightsOf(load({}))).toEqual({})
    expect(contextTokenRightsOf(load({}))).toEqual({})
  })

  it('are roles of groups, whose names may have a = of their own', () => {
    expect(oidcRightsOf(load({ oidcRoleMapping: 'dev=runner,ou=ops=viewer' }))).toEqual({
      groupRoles: [
        { group: 'dev', role: 'runner' },
        { group: 'ou=ops', role: 'viewer' },
      ],
    })
  })

  it.each([
    [{}, `${issuer}#`, `${issuer}#`],
    [{ oidcUsernamePrefix: 'oidc:' }, 'oidc:', 'oidc:'],
    [{ oidcUsernamePrefix: 'oidc:', oidcGroupsPrefix: 'groups:' }, 'oidc:', 'groups:'],
    [{ oidcUsernamePrefix: '-' }, '', ''],
  ])('are reviewed by the cluster with the prefixes of %o', (flags, username, groups) => {
    expect(oidcRightsOf(load({ ...rbac, ...flags }))).toEqual({ cluster: { username, groups } })
  })

  it('have a prefix of their own for context tokens', () => {
    const cluster = { username: 'ctx:', groups: 'ctx:' }
    expect(contextTokenRightsOf(load({ ...rbac, contextTokenUsernamePrefix: 'ctx:' }))).toEqual({ cluster })
    expect(contextTokenRightsOf(load(rbac)).cluster?.username).toBe(`${issuer}#`)
  })

  it.each([
    [{ oidcRoleMapping: 'dev' }, '"dev" must be group=role'],
    [{ oidcRoleMapping: '=viewer' }, '"=viewer" must be group=role'],
    [{ oidcAuthorization: 'rbac', mode: 'embedded' }, 'rbac needs --mode kubernetes'],
    [{ ...rbac, oidcRoleMapping: 'dev=viewer' }, 'has no meaning with --oidc-authorization=rbac'],
    [{ mode: 'kubernetes', oidcRoleMapping: 'dev=owner' }, 'can make nobody the owner of a cluster'],
  ])('cannot be configured as %o', (flags, message) => {
    expect(() => oidcRightsOf(load(flags))).toThrow(message)
  })
})
