// The tokens of `svc login`, one login per service, in a file that only this user can read; renewed before they expire.
import { readFileSync } from 'node:fs'

export type Login = {
  issuer: string
  clientId: string
  /** Which of the issuer's tokens the service accepts. */
  kind: 'access' | 'id'
  token: string
  /** RFC 3339; absent: the issuer did not say. */
  expiresAt?: string
  refreshToken?: string
}

export type LoginStore = {
  find(server: string): Login | undefined
  keep(server: string, login: Login): void
  /** False when there was none. */
  forget(server: string): boolean
}

export type LoginStoreOptions = {
  path: string
  /** Writes a file whole or not at all, mode 0600. */
  write: (path: string, text: string) => void
}

function isLogin(value: unknown): value is Login {
  if (value === null || typeof value !== 'object') return false
  const { issuer, clientId, kind, token } = value as Partial<Login>
  return [issuer, clientId, token].every((text) => typeof text === 'string') && (kind === 'access' || kind === 'id')
}

function readAll(path: string): Record<string, Login> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (value === null || typeof value !== 'object') return {}
    return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, Login] => isLogin(entry[1])))
  } catch {
    // Missing, or unreadable: then nobody is logged in.
    return {}
  }
}

export function createLoginStore({ path, write }: LoginStoreOptions): LoginStore {
  const save = (logins: Record<string, Login>) => write(path, `${JSON.stringify(logins, null, 2)}\n`)
  return {
    find: (server) => readAll(path)[server],
    keep: (server, login) => save({ ...readAll(path), [server]: login }),
    forget(server) {
      const { [server]: found, ...rest } = readAll(path)
      if (found !== undefined) save(rest)
      return found !== undefined
    },
  }
}

/** Renewed this long before its end, so that it does not expire on the way. */
const earlyMs = 60_000

export type CurrentTokenOptions = {
  logins: LoginStore
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
