// Tokens with which agent command lines use the proxies: one provider, a budget, an expiry, and one attempt (AUTH-013).
import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto'
import { SvcError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { createStopwatches } from '../lib/stopwatch.ts'
import type { AgentGrant, AgentTokens, Authenticator, Caller } from '../ports/identity/identity.ts'

const prefix = 'svca_'
const purpose = 'svc agent tokens'
const keyBytes = 32
const minKeyBytes = 16
/** More than any grant needs. */
const maxTokenLength = 4096

export type AgentTokensOptions = {
  /** The service's own key, the same in every replica; the signing key is derived from it. */
  key: Uint8Array
  clock: Clock
}

function refuse(): never {
  throw new SvcError('Unauthenticated', 'invalid token')
}

function isKey(value: unknown): value is AgentGrant['provider'] {
  const key = value as Partial<AgentGrant['provider']> | null | undefined
  return typeof key?.namespace === 'string' && typeof key.name === 'string'
}

function isGrant(value: unknown): value is AgentGrant {
  const grant = value as Partial<AgentGrant> | null | undefined
  const texts = [grant?.taskUid, grant?.namespace, grant?.taskName, grant?.expiresAt]
  const numbers = [grant?.attempt, grant?.maxTokens]
  return texts.every((text) => typeof text === 'string') && numbers.every(Number.isInteger) && isKey(grant?.provider)
}

function parseGrant(payload: string): AgentGrant {
  const value: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  return isGrant(value) ? value : refuse()
}

export function createAgentTokens({ key, clock }: AgentTokensOptions): AgentTokens {
  const stopwatches = createStopwatches(clock)
  if (key.length < minKeyBytes) throw new SvcError('Internal', 'There is no key to sign tokens of agents with.')
  const own = createSecretKey(Buffer.from(hkdfSync('sha256', key, new Uint8Array(), purpose, keyBytes)))
  const sign = (payload: string) => createHmac('sha256', own).update(payload).digest()

  /** The payload of a token with a good signature. */
  function open(token: string): string | undefined {
    if (!token.startsWith(prefix) || token.length > maxTokenLength) return undefined
    const [payload = '', signature = '', ...rest] = token.slice(prefix.length).split('.')
    const [received, expected] = [Buffer.from(signature, 'base64url'), sign(payload)]
    // Another spelling of the same bytes would be another token.
    const isSpelt = received.toString('base64url') === signature && rest.length === 0
    return isSpelt && received.length === expected.length && timingSafeEqual(received, expected) ? payload : undefined
  }

  return {
    async mint(grant) {
      stopwatches.momentSince(JSON.stringify(grant))
      const payload = Buffer.from(JSON.stringify(grant)).toString('base64url')
      return `${prefix}${payload}.${sign(payload).toString('base64url')}`
    },
    recognizes: (token) => open(token) !== undefined,
    async verify(token) {
      const grant = parseGrant(open(token) ?? refuse())
      // Its attempt ends it as well; a clock that is set while the agent runs does not.
      const now = stopwatches.momentSince(JSON.stringify(grant))
      return Date.parse(grant.expiresAt) > now.getTime() ? grant : refuse()
    },
  }
}

function toCaller(grant: AgentGrant): Caller {
  const { namespace } = grant.provider
  return {
    authType: 'token',
    username: `task/${grant.taskName}`,
    uid: `${grant.taskUid}/${grant.attempt}`,
    groups: [],
    namespace,
    boundNamespace: namespace,
    role: 'runner',
    // The command line sends its own.
    serverTools: false,
    agent: grant,
  }
}

/** Also accepts agents' tokens; the permission rules decide what they may do. */
export function withAgentTokens(inner: Authenticator, tokens: AgentTokens): Authenticator {
  return {
    recognizes: ({ token }) => tokens.recognizes(token),
    async authenticate(credential) {
      if (!credential.token.startsWith(prefix)) return inner.authenticate(credential)
      return toCaller(await tokens.verify(credential.token))
    },
  }
}
