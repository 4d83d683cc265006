// Secrets: write, list without values, remove.
import type { SecretCreate } from '../contract/api/secrets.ts'
import type { Caller } from '../ports/identity.ts'
import type { ResourceKey } from '../ports/resources.ts'
import type { SecretMetadata } from '../ports/secrets.ts'
import { allowedHostsAnnotation } from '../rules/trusted-address.ts'
import { listWhole, requireAccess } from './access.ts'
import type { UsecaseDeps } from './deps.ts'

const serviceAccountType = 'kubernetes.io/service-account-token'

export type SecretUsecases = {
  /**
   * In order of namespace and name, without a namespace of all that the caller may list; tokens of service accounts are
   * left out.
   */
  list(caller: Caller, namespace: string | undefined): Promise<SecretMetadata[]>
  /** AlreadyExists. */
  create(caller: Caller, draft: SecretCreate & { namespace: string }): Promise<SecretMetadata>
  /** NotFound. */
  remove(caller: Caller, key: ResourceKey): Promise<void>
}

export function createSecretUsecases({ ports }: UsecaseDeps): SecretUsecases {
  const { secrets } = ports
  return {
    async list(caller, namespace) {
      const all = await listWhole(ports, caller, 'Secret', { namespace, read: secrets.list })
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
