// One random key that all replicas share: a Secret in the service's own namespace, created by the first of them.
import { randomBytes } from 'node:crypto'
import { SvcError } from '../errors.ts'
import { orAbsent, unlessExists } from './api/failures.ts'
import { collections } from './api/paths.ts'
import type { KubernetesApi } from './api.ts'

export type ReplicaKeyOptions = { api: KubernetesApi; namespace: string; name: string }

type Secret = { data?: Record<string, string> }

const keyBytes = 32
const entry = 'key'

async function readKey({ api, namespace, name }: ReplicaKeyOptions): Promise<Uint8Array | undefined> {
  const request = { verb: 'get' as const, collection: collections.secrets, namespace, name }
  const secret = await orAbsent(api.request<Secret>(request))
  if (secret === undefined) return undefined
  const key = Buffer.from(secret.data?.[entry] ?? '', 'base64')
  if (key.length === keyBytes) return key
  throw new SvcError('NotConfigured', `the Secret ${namespace}/${name} contains no key of the service; delete it`)
}

/** The key, the same for every replica and after restarts. */
export async function ensureReplicaKey(options: ReplicaKeyOptions): Promise<Uint8Array> {
  const { api, namespace, name } = options
  const known = await readKey(options)
  if (known) return known
  const data = { [entry]: randomBytes(keyBytes).toString('base64') }
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, immutable: true, data }
  await unlessExists(api.request({ verb: 'create', collection: collections.secrets, namespace, body }))
  const made = await readKey(options)
  if (made) return made
  throw new SvcError('Unavailable', `the Secret ${namespace}/${name} was deleted in the meantime; start again`)
}
