import { signOut as revokeToken } from '../../../src/contract/api/identity/auth.ts'
import { api } from '../data/api.ts'
import { sessions } from '../session/session.ts'

/** A token that came from a link is revoked: nobody else uses it. */
export async function signOut(): Promise<void> {
  const revoking = sessions.current()?.source === 'link' ? api().call(revokeToken) : undefined
  // The next one does not begin where this one was.
  window.history.replaceState(null, '', '/')
  sessions.end('You are signed out.')
  // A service that is away: the token ends by itself.
  await revoking?.catch(() => undefined)
}
