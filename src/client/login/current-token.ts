// The token of a login, renewed when it is about to expire.
import type { KeptLogins, Login } from './kept-logins.ts'

/** Renewed this long before its end, so that it does not expire on the way. */
const earlyMs = 60_000

export type CurrentTokenOptions = {
  logins: KeptLogins
  now: () => Date
  refresh: (login: Login & { refreshToken: string }, now: () => Date) => Promise<Login>
}

function isFresh({ expiresAt }: Login, now: Date): boolean {
  return expiresAt === undefined || Date.parse(expiresAt) - now.getTime() > earlyMs
}

/** Undefined when nobody is logged in there. Unauthenticated when the login cannot be renewed. */
export async function findLoginToken(server: string, options: CurrentTokenOptions): Promise<string | undefined> {
  const { logins, now, refresh } = options
  const login = logins.find(server)
  if (login === undefined || isFresh(login, now())) return login?.token
  const { refreshToken } = login
  // Without one, the service reports the expired token, and the command line says what to do.
  if (refreshToken === undefined) return login.token
  try {
    const renewed = await refresh({ ...login, refreshToken }, now)
    logins.keep(server, renewed)
    return renewed.token
  } catch (error) {
    // Another command may have been faster: a refresh token works only once.
    const other = logins.find(server)
    if (other !== undefined && other.refreshToken !== refreshToken && isFresh(other, now())) return other.token
    throw error
  }
}
