// Who a token belongs to, by TokenReview: service accounts and other users of the API server (AUTH-015).
import { createHash } from 'node:crypto'
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Authenticator, Caller } from '../../ports/identity/identity.ts'
import type { KubernetesApi } from '../api.ts'
import { createAnswers, requestReview, type TokenReviewStatus } from './reviews.ts'

const positiveMs = 60_000
const negativeMs = 5_000
const maxTokens = 5_000
/** Longer than any token of the API server; not worth a request. */
const maxTokenLength = 32 * 1024

export type ReviewAuthenticatorOptions = { api: Pick<KubernetesApi, 'request'>; clock: Clock }

/** The namespace of `system:serviceaccount:<namespace>:<name>`; other users have none. */
export function namespaceOfUser(username: string): string | undefined {
  return /^system:serviceaccount:([^:]+):[^:]+$/.exec(username)?.[1]
}

function toCaller({ authenticated, error, user }: TokenReviewStatus): Caller | undefined {
  if (authenticated !== true || error || !user?.username) return undefined
  const { username, uid, groups = [], extra } = user
  const namespace = namespaceOfUser(username)
  return {
    authType: 'tokenReview',
    username,
    ...(uid ? { uid } : {}),
    groups,
    cluster: { user: username, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) },
    namespace,
    role: 'editor',
    serverTools: true,
  }
}

export function createReviewAuthenticator({ api, clock }: ReviewAuthenticatorOptions): Authenticator {
  const answers = createAnswers<Caller | undefined>({
    clock,
    size: maxTokens,
    ttlMs: (caller) => (caller ? positiveMs : negativeMs),
    isRefusal: (caller) => caller === undefined,
  })

  async function review(token: string): Promise<Caller | undefined> {
    // No audiences means the API server's own, so a worker's token (audience svc-internal) is not valid here
    // (AUTH-007).
    return toCaller(await requestReview(api, 'TokenReview', { token }))
  }

  return {
    async authenticate({ token }) {
      const isPlausible = token !== '' && token.length <= maxTokenLength
      const hash = createHash('sha256').update(token).digest('base64')
      const caller = isPlausible ? await answers.ask(hash, () => review(token)) : undefined
      if (caller) return caller
      throw new SvcError('Unauthenticated', 'the credential is missing or not valid: send a valid token')
    },
  }
}
