import { describe, expect, it } from 'vitest'
import { readActorConfig } from './actors.ts'
import { loadConfig } from './load.ts'

const read = (flags: Record<string, unknown>) => readActorConfig(loadConfig({ flags, env: {} }))
const enabled = { actorEnabled: true, actorApiCaFile: '/ca.crt', actorBootstrapTokenSecretName: 'bootstrap' }
const identity = {
  actorSessionIdentityTokenSecretName: 'identity',
  actorSessionIdentityAudience: 'svc',
  actorSessionIdentityAppId: 'svc',
  actorSessionIdentityUserId: 'agents',
}

describe('the settings of actors', () => {
  it('mean nothing until actors are enabled', () => {
    expect(read({ actorApiInsecureSkipVerify: true, actorApiCaFile: '/ca.crt' })).toBeUndefined()
  })

  it('trust the certificates of a file, or any', () => {
    expect(read(enabled)).toMatchObject({
      trust: { caFile: '/ca.crt' },
      bootstrapToken: { name: 'bootstrap', entry: 'token' },
    })
    expect(read({ ...enabled, actorApiTokenFile: '/token' })).toMatchObject({
      trust: { caFile: '/ca.crt', tokenFile: '/token' },
    })
    const open = { actorEnabled: true, actorApiInsecureSkipVerify: true, actorBootstrapTokenSecretName: 'bootstrap' }
    expect(read(open)).toMatchObject({ trust: 'insecure' })
  })

  it('ask for identities of sessions once there is a token for that', () => {
    expect(read(enabled)?.identity).toBeUndefined()
    expect(read({ ...enabled, ...identity })?.identity).toEqual({
      token: { name: 'identity', entry: 'token' },
      audience: 'svc',
      appId: 'svc',
      userId: 'agents',
      required: false,
    })
  })

  it.each([
    [
      { actorEnabled: true },
      '--actor-api-ca-file (SVC_ACTOR_API_CA_FILE) is needed with --actor-enabled, or --actor-api-insecure-skip-verify',
    ],
    [{ actorEnabled: true }, '--actor-bootstrap-token-secret-name (SVC_ACTOR_BOOTSTRAP_TOKEN_SECRET_NAME) is needed'],
    [{ ...enabled, actorApiInsecureSkipVerify: true }, 'choose one of the two'],
    [
      {
        ...enabled,
        actorApiCaFile: undefined,
        actorApiInsecureSkipVerify: true,
        actorApiTokenFile: '/token',
      },
      'whose certificate is not checked is shown no token',
    ],
    [{ ...enabled, actorSessionIdentityMintCert: true }, 'is not supported: identities are tokens'],
    [{ ...enabled, actorSessionIdentityRequired: true }, 'is needed where identities are required'],
    [{ ...enabled, actorSessionIdentityTokenSecretName: 'identity' }, '--actor-session-identity-user-id'],
  ])('are refused when they are incomplete or contradict each other: %o', (flags, message) => {
    expect(() => read(flags)).toThrow(message)
  })
})
