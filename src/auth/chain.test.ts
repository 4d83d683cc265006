import { describe, expect, it } from 'vitest'
import { encodePart } from '../../test/fixtures/issuer.ts'
import { type ErrorReason, SvcError } from '../errors.ts'
import type { Authenticator, Caller, Credential } from '../ports/identity/identity.ts'
import { createAuthenticatorChain } from './chain.ts'

const issuer = 'https://issuer.example'
const forge = (header: object, claims: object) => `${encodePart(header)}.${encodePart(claims)}.AAAA`
const transaction = forge({ alg: 'RS256', typ: 'txntoken+jwt' }, { iss: issuer })
const oidcToken = forge({ alg: 'RS256' }, { iss: issuer })
const otherToken = forge({ alg: 'RS256' }, { iss: 'https://cluster.example' })

/** One that knows every token, none, or fails. */
function member(name: string, reason?: ErrorReason): Authenticator {
  return {
    authenticate: async () => {
      if (reason !== undefined) throw new SvcError(reason, `${name} says no, and why`)
      return { username: name } as Caller
    },
  }
}

type Setup = {
  plain?: Authenticator[]
  oidc?: ErrorReason | 'good'
  context?: ErrorReason | 'good'
  acceptsBearer?: boolean
}

async function ask(setup: Setup, token: string, source: Credential['source'] = 'bearer'): Promise<string> {
  const open = (name: string, state: ErrorReason | 'good') => member(name, state === 'good' ? undefined : state)
  const { plain = [member('plain')], oidc, context, acceptsBearer = false } = setup
  const chain = createAuthenticatorChain({
    plain,
    ...(oidc === undefined ? {} : { oidc: { issuer, authenticator: open('oidc', oidc) } }),
    ...(context === undefined
      ? {}
      : { context: { authenticator: open('context', context), acceptsBearer, headers: ['Txn-Token'] } }),
  })
  try {
    return (await chain.authenticate({ token, source })).username
  } catch (error) {
    return `${(error as SvcError).reason}: ${(error as SvcError).message}`
  }
}

const hint = 'Unauthenticated: send a context token in the header Txn-Token, not as a bearer token'

describe('the chain of authenticators', () => {
  it('sends a token of the OIDC issuer to OIDC alone, whose refusal is final', async () => {
    expect(await ask({ oidc: 'good' }, oidcToken)).toBe('oidc')
    expect(await ask({ oidc: 'good' }, oidcToken, 'x-api-key')).toBe('oidc')
    expect(await ask({ oidc: 'Unauthenticated' }, oidcToken)).toMatch(/^Unauthenticated/)
    expect(await ask({ oidc: 'Forbidden' }, oidcToken)).toMatch(/^Forbidden/)
    expect(await ask({ oidc: 'Unavailable' }, oidcToken)).toMatch(/^Unavailable/)
  })

  it('offers every other token to the plain members in turn', async () => {
    const plain = [member('tokens', 'Unauthenticated'), member('review')]
    for (const token of [otherToken, 'svc_text', '', 'a.b', `${'x'.repeat(20_000)}.a.b`]) {
      expect(await ask({ plain, oidc: 'good', context: 'good' }, token)).toBe('review')
    }
  })

  it('stops at the first plain member that is unavailable, without asking the next', async () => {
    const plain = [member('tokens', 'Unauthenticated'), member('review', 'Unavailable'), member('later')]
    expect(await ask({ plain }, 'text')).toMatch(/^Unavailable/)
  })

  it('answers with the same words whichever member refused', async () => {
    const plain = [member('tokens', 'Unauthenticated')]
    expect(await ask({ plain }, 'text')).toBe('Unauthenticated: invalid token')
    expect(await ask({ plain: [] }, 'text')).toBe('Unauthenticated: invalid token')
  })

  it('sends the context header to the context member alone', async () => {
    for (const token of [transaction, oidcToken, 'svc_text']) {
      expect(await ask({ oidc: 'good', context: 'good' }, token, 'context')).toBe('context')
      expect(await ask({ oidc: 'good', context: 'Unauthenticated' }, token, 'context')).toMatch(/^Unauthenticated/)
    }
    expect(await ask({}, transaction, 'context')).toBe('Unauthenticated: invalid token')
  })

  it('hints at the right header when a context token comes as a bearer token [CTX-014]', async () => {
    expect(await ask({ context: 'good', oidc: 'good' }, transaction)).toBe(hint)
    expect(await ask({ context: 'good', acceptsBearer: true }, transaction, 'x-api-key')).toBe(hint)
  })

  it('accepts a context token as a bearer token where that is configured, and other tokens as before [CTX-015]', async () => {
    const setup: Setup = { context: 'good', oidc: 'good', acceptsBearer: true }
    expect(await ask(setup, transaction)).toBe('context')
    expect(await ask({ ...setup, context: 'Unauthenticated' }, transaction)).toMatch(/^Unauthenticated/)
    expect(await ask(setup, oidcToken)).toBe('oidc')
    expect(await ask(setup, 'svc_text')).toBe('plain')
  })
})
