// Links that sign in on the dashboard once, and the end of such a sign-in.
import type { FastifyRequest } from 'fastify'
import { createSignInLink, exchangeSignInLink, getSignInMethods, signOut } from '../../../contract/api/identity/auth.ts'
import type { Bind } from '../../bind.ts'
import type { HttpDeps } from '../../deps.ts'
import type { AttemptGuard } from '../../middleware/attempt-guard.ts'

const notStored = { 'cache-control': 'no-store' }

/** `guard`: that of users' credentials, which a code is one of. */
export function bindSignIn(bind: Bind, { usecases, ports, settings }: HttpDeps, guard: AttemptGuard): void {
  async function exchange(code: string, request: FastifyRequest) {
    request.trail = { attempted: true }
    const { clientAddress: address, id: requestId, socket: connection } = request
    const source = { address, requestId, connection, route: exchangeSignInLink.path }
    const check = () => usecases.signIn.exchange(code)
    const made = await guard(source, { token: code, isOwn: () => false, check })
    request.identity = await ports.authenticator.authenticate({ token: made.token, source: 'bearer' })
    return made
  }

  bind.json(getSignInMethods, () => ({ token: true as const, oidc: [...(settings.signIn ?? [])] }))
  bind(createSignInLink, async ({ caller }) => {
    const { code, expiresAt } = await usecases.signIn.createLink(caller)
    return { json: { code, expiresAt: expiresAt.toISOString() }, headers: notStored }
  })
  bind(exchangeSignInLink, async ({ body, request }) => {
    const { record, token } = await exchange(body.code, request)
    return { json: { ...record, token }, headers: notStored }
  })
  bind.empty(signOut, ({ caller }) => usecases.signIn.signOut(caller))
}
