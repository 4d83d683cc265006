// Keys of the environment as a read-only secret: referenced by name, never copied into the store (MODE-016).
import { SvcError } from '../../errors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { SecretMetadata, Secrets } from '../../ports/resources/secrets.ts'

/**
 * Only the owner of the service may name it in a resource: the keys belong to the machine (`ownerSecret` of the use
 * cases).
 */
export const environmentSecret: ResourceKey = { namespace: 'default', name: 'environment' }

function isEnvironment(key: ResourceKey): boolean {
  return key.namespace === environmentSecret.namespace && key.name === environmentSecret.name
}

/** `secrets` plus one whose values are `values`; none of it is written anywhere. */
export function withEnvironmentSecret(secrets: Secrets, values: Record<string, string>, startedAt: Date): Secrets {
  const explained = { ...secrets, explainMissing: explainMissingOf(values) }
  if (Object.keys(values).length === 0) return explained
  const metadata: SecretMetadata = {
    ...environmentSecret,
    type: 'svc.ai/environment',
    keys: Object.keys(values).toSorted(),
    annotations: {},
    createdAt: `${startedAt.toISOString().slice(0, 19)}Z`,
  }
  const refuse = (what: string) =>
    new SvcError(
      'Conflict',
      `the secret default/environment represents the environment of the service and cannot be ${what}`,
    )
  return {
    ...explained,
    read: async (key) => (isEnvironment(key) ? { ...values } : secrets.read(key)),
    describe: async (key) => (isEnvironment(key) ? metadata : secrets.describe(key)),
    async list(namespace) {
      const stored = await secrets.list(namespace)
      if (namespace !== undefined && namespace !== environmentSecret.namespace) return stored
      return [...stored, metadata].toSorted((a, b) => compareKeys(a, b))
    },
    create: async (draft) => {
      if (isEnvironment(draft)) throw refuse('made')
      return secrets.create(draft)
    },
    update: async (key, change) => {
      if (isEnvironment(key)) throw refuse('changed; set the variables and start the service again')
      return secrets.update(key, change)
    },
    remove: async (key) => {
      if (isEnvironment(key)) throw refuse('removed; unset the variables and start the service again')
      return secrets.remove(key)
    },
  }
}

/** The keys are those of the shell that started the service, so that another shell can start one without them. */
function explainMissingOf(values: Record<string, string>): NonNullable<Secrets['explainMissing']> {
  return (key, { entry, owner }) => {
    if (!isEnvironment(key) || values[entry]) return undefined
    const name = /^provider "([^"]+)"$/.exec(owner)?.[1] ?? 'NAME'
    return (
      `the key of ${owner} is ${entry} of the shell that starts the service, and the one that started this service had none: ` +
      `export ${entry} and start it again, or store the key for good: \`provider update ${name} --key-from-env ${entry}\` on the command line`
    )
  }
}

function compareKeys(a: ResourceKey, b: ResourceKey): number {
  const [left, right] = [`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`]
  return left < right ? -1 : Number(left > right)
}
