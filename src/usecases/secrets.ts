// Secrets: written, listed without values, removed.
import type { SecretCreate } from '../contract/api/secrets.ts'
import type { Caller } from '../ports/identity.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { SecretMetadata } from '../ports/secrets.ts'
import { allowedHostsAnnotation } from '../rules/trusted-address.ts'
import { requireAccess } from './access.ts'
import type { UsecaseDeps } from './deps.ts'

const serviceAccountType = 'kubernetes.io/service-account-token'

export type SecretUsecases = {
  /** In name order; tokens of service accounts are left out. */
  list(caller: Caller, namespace: string): Promise<SecretMetadata[]>
  /** AlreadyExists. */
  create(caller: Caller, draft: SecretCreate & { namespace: string }): Promise<SecretMetadata>
  /** NotFound. */
  remove(caller: Caller, key: ResourceKey): Promise<void>
}

export function createSecretUsecases({ ports }: UsecaseDeps): SecretUsecases {
  const { secrets } = ports
  return {
    async list(caller, namespace) {
      await requireAccess(ports, caller, { verb: 'list', kind: 'Secret', namespace })
      const all = await secrets.list(namespace)
      return all.filter((secret) => secret.type !== serviceAccountType)
    },
    async create(caller, { name, namespace, stringData, allowedHosts }) {
      await requireAccess(ports, caller, { verb: 'create', kind: 'Secret', namespace, name })
      const annotations: Record<string, string> = {}
      if (allowedHosts !== undefined) annotations[allowedHostsAnnotation] = allowedHosts.join(',')
      return secrets.create({ name, namespace, stringData, annotations })
    },
    async remove(caller, key) {
      await requireAccess(ports, caller, { verb: 'delete', kind: 'Secret', ...key })
      await secrets.remove(key)
    },
  }
}
