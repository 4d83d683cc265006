// Signs a person in on the dashboard by a link that is used once, with a token of its own.
import { SvcError } from '../../errors.ts'
import type { Caller, TokenRecord } from '../../ports/identity/identity.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type SignInUsecases = {
  /** Forbidden for callers without a token of this service. */
  createLink(caller: Caller): Promise<{ code: string; expiresAt: Date }>
  /** A token that acts as whoever made the link; only this answer contains its text. Unauthenticated. */
  exchange(code: string): Promise<{ record: TokenRecord; token: string }>
  /** Revokes the caller's token if it came from a link; Conflict otherwise. */
  signOut(caller: Caller): Promise<void>
}

/** A browser starts within it, on a slow machine too. */
const linkMs = 120_000
/** A working day: who begins in the morning is not asked again, and a tab that is left open ends by itself. */
const signInMs = 12 * 3_600_000
const maxNameLength = 63

/** Never longer than the token that the link is made with. */
function endOf({ token }: Caller, now: number): Date {
  const end = token?.expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(token.expiresAt)
  return new Date(Math.min(end, now + signInMs))
}

function requireToken({ authType, agent, uid }: Caller): string {
  if (authType === 'token' && agent === undefined && uid !== undefined) return uid
  throw new SvcError(
    'Forbidden',
    'only a token of this service can make a sign-in link; sign in on the page of the dashboard itself',
  )
}

export function createSignInUsecases({ ports }: UsecaseDeps): SignInUsecases {
  const { signInLinks, tokens, clock } = ports
  return {
    async createLink(caller) {
      const id = requireToken(caller)
      const now = clock.now().getTime()
      const { username, role, serverTools, boundNamespace: namespace } = caller
      const name = `dashboard-${username}`.slice(0, maxNameLength)
      const token = { name, role, serverTools, namespace, expiresAt: endOf(caller, now) }
      const expiresAt = new Date(now + linkMs)
      return { code: await signInLinks.create({ caller: { id, name: username }, token, expiresAt }), expiresAt }
    },
    exchange: (code) => signInLinks.exchange(code),
    async signOut({ token }) {
      if (token?.isSignIn === true) return tokens.revoke(token.id)
      throw new SvcError(
        'Conflict',
        'this token did not come from a sign-in link, so it stays valid; the owner revokes it by DELETE /api/v1/tokens/ID',
      )
    },
  }
}
