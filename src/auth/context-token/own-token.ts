// The service account's token, which the kubelet mounts into the service's pod and renews: read before each exchange.
import { readFile } from 'node:fs/promises'

const mountedToken = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Undefined when there is none, as outside a cluster. */
export async function readServiceAccountToken(path = mountedToken): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined
  } catch {
    return undefined
  }
}
