import { describe, expect, it } from 'vitest'
import { readIdentityConfig } from './identity.ts'
import { loadConfig } from './load.ts'

const issuer = 'https://issuer.example'
const read = (flags: Record<string, unknown>, env: Record<string, string> = {}) =>
  readIdentityConfig(loadConfig({ flags, env }))
const oidc = { oidcIssuer: issuer, oidcAudience: 'svc' }
const context = { contextTokenProfile: 'kontxt', contextTokenIssuer: issuer, contextTokenAudience: 'svc' }

describe('OpenID Connect', () => {
  it('is on when issuer and audience are both set [OIDC-001]', () => {
    expect(read({})).toEqual({})
    expect(read({ ...oidc, oidcAllowedSubjects: 'a,b-*' })).toEqual({
      oidc: { issuer, audiences: ['svc'], allowedSubjects: ['a', 'b-*'], namespace: 'default' },
    })
  })

  it('is on when its environment variables are set, as with its flags [OIDC-002]', () => {
    const env = { SVC_OIDC_ISSUER: issuer, SVC_OIDC_AUDIENCE: 'svc', SVC_OIDC_NAMESPACE: 'guests' }
    expect(read({}, { ...env, SVC_OIDC_JWKS_URL: `${issuer}/keys`, SVC_OIDC_ALLOWED_SUBJECTS: 'a' })).toEqual({
      oidc: { issuer, audiences: ['svc'], jwksUrl: `${issuer}/keys`, allowedSubjects: ['a'], namespace: 'guests' },
    })
  })

  it.each([
    [{ oidcIssuer: issuer }, '--oidc-audience (SVC_OIDC_AUDIENCE) is needed with --oidc-issuer'],
    [{ oidcIssuer: issuer, oidcAudience: '' }, '--oidc-audience (SVC_OIDC_AUDIENCE) is needed'],
    [{ oidcAudience: 'svc' }, '--oidc-issuer (SVC_OIDC_ISSUER) is needed with --oidc-audience'],
    [{ oidcAllowedSubjects: '*' }, '--oidc-issuer (SVC_OIDC_ISSUER) is needed'],
    [{ ...oidc, oidcIssuer: 'issuer' }, '--oidc-issuer must be an address'],
    [{ ...oidc, oidcIssuer: 'file:///etc/passwd' }, '--oidc-issuer must be an address'],
  ])('that is only partly configured is a start-up error: %o [OIDC-014]', (flags, message) => {
    expect(() => read(flags)).toThrow(message)
  })
})

describe('context tokens', () => {
  it('are on with profile, issuer and audience [CTX-001]', () => {
    const headers = [{ header: 'txn-token' }]
    expect(read(context)).toEqual({
      context: { issuer, audiences: ['svc'], headers, namespace: 'default', mode: 'off' },
    })
  })

  it('are on when their environment variables are set, as with their flags [CTX-002]', () => {
    const env = {
      SVC_CONTEXT_TOKEN_PROFILE: 'kontxt',
      SVC_CONTEXT_TOKEN_ISSUER: issuer,
      SVC_CONTEXT_TOKEN_AUDIENCE: 'svc',
      SVC_CONTEXT_TOKEN_HEADERS: 'X-Txn, Authorization:Bearer',
      SVC_CONTEXT_TOKEN_AUTHZ_MODE: 'enforce',
    }
    expect(read({}, env).context).toMatchObject({
      headers: [{ header: 'x-txn' }, { header: 'authorization', scheme: 'Bearer' }],
      mode: 'enforce',
    })
  })

  it.each([
    [{ contextTokenIssuer: issuer, contextTokenAudience: 'svc' }, '--context-token-profile'],
    [{ contextTokenAuthzMode: 'enforce' }, '--context-token-profile'],
    [{ contextTokenTaskCreateScopes: 'a' }, '--context-token-profile'],
    [{ contextTokenProfile: 'kontxt' }, '--context-token-issuer'],
    [{ ...context, contextTokenAudience: undefined }, '--context-token-audience'],
    [{ ...context, contextTokenProfile: 'other' }, 'must be one of kontxt'],
    [{ ...context, contextTokenHeaders: 'Authorization' }, 'Authorization needs a scheme'],
    [{ ...context, contextTokenHeaders: 'x-api-key' }, '"x-api-key" must be Header'],
    [{ ...context, contextTokenHeaders: 'a b' }, '"a b" must be Header'],
    [{ ...context, contextTokenAuthzMode: 'maybe' }, 'must be one of off, audit, enforce'],
  ])('that are only partly configured are a start-up error: %o', (flags, message) => {
    expect(() => read(flags)).toThrow(message)
  })
})
