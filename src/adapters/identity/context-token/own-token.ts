// The service account's token as the kubelet mounts it into the service's pod, and renews it: read before each exchange.
import { readFile } from 'node:fs/promises'

const mountedToken = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Undefined where there is none, as outside a cluster. */
export async function readServiceAccountToken(path = mountedToken): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim() || undefined
  } catch {
    return undefined
  }
}
