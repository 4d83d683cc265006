// Connections to the API server, and the credentials currently valid on them.
import { isDeepStrictEqual } from 'node:util'
import type { Agent } from 'undici'
import type { Clock } from '../../lib/clock.ts'
import type { ApiConnection, Credentials } from './connection.ts'

/** Concurrent requests; more of them wait here, which costs the server nothing. */
const parallelRequests = 32
/** Time limit until the server's first byte, and between two parts of an answer. */
export const answerTimeoutMs = 30_000
/**
 * How long credentials are used before they are read again: projected tokens are renewed minutes before they expire.
 */
const credentialsAgeMs = 30_000

/** Connections for one set of TLS material; replaced when that changes on disk. */
type Pools = { credentials: Credentials; requests: Agent; streams: Agent }

async function openPools(credentials: Credentials): Promise<Pools> {
  // undici takes 75 ms to load: only this mode needs it here.
  const { Agent } = await import('undici')
  const connect = { ...credentials.tls, keepAlive: true, keepAliveInitialDelay: 30_000, timeout: 5000 }
  // Over HTTP/2 one slow reader blocks all streams of its connection, and undici's implementation throws when closed
  // early.
  const options = { connect, allowH2: false, headersTimeout: answerTimeoutMs }
  return {
    credentials,
    requests: new Agent({ ...options, connections: parallelRequests, keepAliveTimeout: 30_000 }),
    streams: new Agent(options),
  }
}

export function createPools({ connection, clock }: { connection: ApiConnection; clock: Clock }) {
  let pools: Promise<Pools> | undefined
  let credentials: { value: Promise<Credentials>; readAt: number } | undefined

  function readCredentials(): Promise<Credentials> {
    const now = clock.now().getTime()
    if (credentials === undefined || now - credentials.readAt > credentialsAgeMs) {
      const value = connection.readCredentials()
      credentials = { value, readAt: now }
      value.catch(() => {
        credentials = undefined
      })
    }
    return credentials.value
  }

  async function renew(current: Promise<Pools> | undefined, value: Credentials): Promise<Pools> {
    const before = await current?.catch(() => undefined)
    if (before === undefined) return openPools(value)
    if (before.credentials === value) return before
    if (isDeepStrictEqual(before.credentials.tls, value.tls)) return { ...before, credentials: value }
    // Streams with the old material continue until they end.
    void before.requests.close()
    void before.streams.close()
    return openPools(value)
  }

  return {
    async open(): Promise<Pools & { headers: Record<string, string> }> {
      const value = await readCredentials()
      pools = renew(pools, value)
      return { ...(await pools), headers: value.headers }
    },
    /** The next request reads the credentials again, because the server refused them. */
    forget: () => {
      credentials = undefined
    },
    async close(): Promise<void> {
      const open = await pools?.catch(() => undefined)
      await Promise.all([open?.requests.destroy(), open?.streams.destroy()])
    },
  }
}
