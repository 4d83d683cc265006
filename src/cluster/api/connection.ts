// Connections to the API server: its address, the credentials (the pod's own service account, or a kubeconfig), and the
// connections that use them.
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import type { Agent } from 'undici'
import { messageOf, SvcError } from '../../errors.ts'
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { dropUndefined } from '../../lib/json.ts'

type Credentials = { headers: Record<string, string>; tls: ConnectionOptions }

export type ApiConnection = {
  /** `https://host:port`. */
  origin: string
  /** Prefix of every path; empty unless the server is behind a gateway. */
  pathPrefix: string
  /** Namespace of the pod or of the kubeconfig's context. */
  namespace: string
  /** The current credentials: tokens and certificates are renewed on disk. */
  readCredentials(): Promise<Credentials>
}

/** Where Kubernetes mounts a pod's account. */
const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Host and port of the API server, from the pod's environment. */
export type ApiServerAddress = { host: string; port: string }

/**
 * The account of the pod in which this runs. Read from its files directly: the client library takes 90 MB and two
 * thirds of a second to load, and knows no more about them.
 */
export async function connectFromPod({ host, port }: ApiServerAddress, folder = accountFolder): Promise<ApiConnection> {
  const readText = (name: string) => readFile(`${folder}/${name}`, 'utf8')
  const namespace = await readText('namespace').catch((error: unknown) => {
    throw new SvcError('NotConfigured', `no service account is mounted at ${folder}: ${messageOf(error)}`)
  })
  return {
    origin: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    pathPrefix: '',
    namespace: namespace.trim(),
    readCredentials: async () => {
      const [ca, token] = await Promise.all([readText('ca.crt'), readText('token')])
      return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } }
    },
  }
}

function pickTls({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }: RequestOptions) {
  const present = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }
  return dropUndefined(present) as ConnectionOptions
}

function readHeaders(options: RequestOptions): Record<string, string> {
  const entries = Object.entries((options.headers ?? {}) as Record<string, unknown>)
  const headers = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]))
  // A user name and password stand apart from the headers there.
  if (typeof options.auth === 'string') headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`
  return headers
}

/** The current context of a kubeconfig; `file` absent: KUBECONFIG or the one in the home folder. */
export async function connectFromKubeconfig(file?: string): Promise<ApiConnection> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  try {
    if (file === undefined) config.loadFromDefault()
    else config.loadFromFile(file)
  } catch (error) {
    throw new SvcError('NotConfigured', `the kubeconfig cannot be read: ${messageOf(error)}`, { cause: error })
  }
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new SvcError('NotConfigured', 'the kubeconfig has no current context with a cluster')
  const server = new URL(cluster.server)
  return {
    origin: server.origin,
    pathPrefix: server.pathname.replace(/\/$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    readCredentials: async () => {
      const options: RequestOptions = {}
      await config.applyToHTTPSOptions(options)
      return { headers: readHeaders(options), tls: pickTls(options) }
    },
  }
}

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
    const now = monotonicMs(clock)
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
