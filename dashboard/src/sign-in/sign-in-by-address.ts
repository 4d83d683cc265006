// Signing in by the address: by the link of `svc open`, whose code stands behind the `#`, which browsers send to nobody, and works
// once; or on the way back from an issuer.
import { createApiClient } from '../../../src/client/client.ts'
import { exchangeSignInLink, validateToken } from '../../../src/contract/api/identity/auth.ts'
import { isSvcError, SvcError } from '../../../src/errors.ts'
import { api, serviceUrl } from '../data/api.ts'
import { sessions } from '../session/session.ts'

const mark = '#signin='

/** The code of the address, which is taken out of it and so out of the history. */
function takeCode(): string | undefined {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(mark)) return undefined
  window.history.replaceState(null, '', pathname + search)
  return hash.slice(mark.length)
}

async function isSignedIn(): Promise<boolean> {
  if (sessions.current() === undefined) return false
  try {
    await api().call(validateToken)
    return true
  } catch (error) {
    return !isSvcError(error, 'Unauthenticated')
  }
}

/** Signs in where the address has the code of a link. Resolves with what to tell where that failed. */
async function followLink(): Promise<unknown> {
  const code = takeCode()
  // Whoever is signed in stays so: the link may be a stranger's.
  if (code === undefined || (await isSignedIn())) return undefined
  try {
    const client = createApiClient({ url: serviceUrl, token: '' })
    const { token, expiresAt } = await client.call(exchangeSignInLink, { body: { code } })
    sessions.begin({ token, source: 'link', ...(expiresAt === undefined ? {} : { expiresAt }) })
    return undefined
  } catch (error) {
    if (!isSvcError(error, 'Unauthenticated')) return error
    return new SvcError('Unauthenticated', 'This link has been used, or is too old. `svc open` makes a new one.')
  }
}

async function comeBack(): Promise<unknown> {
  try {
    return await (await import('./issuer-sign-in.ts')).endAtIssuer()
  } catch (error) {
    return error
  }
}

/** Resolves with what to tell where signing in failed. */
export function signInByAddress(): Promise<unknown> {
  return window.location.pathname === '/signin/callback' ? comeBack() : followLink()
}
