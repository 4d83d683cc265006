// The address of the API server and the credentials for it: the pod's own service account, or a kubeconfig.
import { readFile } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import type { ConnectionOptions } from 'node:tls'
import { messageOf, SvcError } from '../../errors.ts'

export type Credentials = { headers: Record<string, string>; tls: ConnectionOptions }

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
export type PodAddress = { host: string; port: string }

/**
 * The account of the pod in which this runs. Read from its files directly: the client library takes 90 MB and two
 * thirds of a second to load, and knows no more about them.
 */
export async function connectFromPod({ host, port }: PodAddress, folder = accountFolder): Promise<ApiConnection> {
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
  const given = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as ConnectionOptions
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
