// The link of `svc open`: its code stands behind the `#`, which browsers send to nobody, and signs in once.
import { createClient } from '../../../src/client/client.ts'
import { exchangeSignInLink } from '../../../src/contract/api/auth.ts'
import { isSvcError, SvcError } from '../../../src/errors.ts'
import { serviceUrl } from '../data/api.ts'
import { sessions } from './session.ts'

const mark = '#signin='

/** The code of the address, which is taken out of it and so out of the history. */
function takeCode(): string | undefined {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(mark)) return undefined
  window.history.replaceState(null, '', pathname + search)
  return decodeURIComponent(hash.slice(mark.length))
}

/** Signs in where the address has a code. Resolves with what to tell where that failed. */
export async function followSignInLink(): Promise<unknown> {
  const code = takeCode()
  if (code === undefined) return undefined
  try {
    const client = createClient({ url: serviceUrl, token: '' })
    const { token, expiresAt } = await client.call(exchangeSignInLink, { body: { code } })
    sessions.begin({ token, source: 'link', ...(expiresAt === undefined ? {} : { expiresAt }) })
    return undefined
  } catch (error) {
    // Whoever is signed in already stays so.
    if (sessions.current() !== undefined) return undefined
    if (!isSvcError(error, 'Unauthenticated')) return error
    return new SvcError('Unauthenticated', 'This link has been used, or is too old. `svc open` makes a new one.')
  }
}
