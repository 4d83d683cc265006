// Secret values that must not reach a model or a client: removed from tool results (SECRET-008).
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import { isSvcError } from '../../errors.ts'
import type { LookupCaches } from '../../lookup/cache.ts'
import { createRedactor, type Redactor } from '../../observability/redaction.ts'
import type { Ports } from '../../ports/index.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'

const namingKinds = ['Agent', 'Tool', 'Provider'] as const
/** The most objects of one kind to look through. */
const maxObjects = 1000

export type SecretWords = {
  /** Removes the secrets that resources of the namespace name. */
  redactorOf(namespace: string): Promise<Redactor>
  /** Removes the keys of these choices and the secrets that resources of the namespace name. */
  redactorFor(namespace: string, choices: readonly ModelChoice[]): Promise<Redactor>
}

export function createSecretWords(ports: Pick<Ports, 'resources' | 'secrets'>, caches: LookupCaches): SecretWords {
  const cache = caches.createCache<string[]>()
  const wordsOf = (namespace: string) => cache.get(namespace, { namespace, load: () => readWords(ports, namespace) })
  return {
    redactorOf: async (namespace) => createRedactor(await wordsOf(namespace), 'tokens'),
    async redactorFor(namespace, choices) {
      const words = await wordsOf(namespace)
      let redact: Redactor | undefined
      return (text) => {
        // Few turns call a tool.
        redact ??= createRedactor([...words, ...choices.flatMap(({ provider }) => provider.apiKey ?? [])], 'tokens')
        return redact(text)
      }
    },
  }
}

async function readWords({ resources, secrets }: Pick<Ports, 'resources' | 'secrets'>, namespace: string) {
  const pages = await Promise.all(
    namingKinds.map((kind) => resources.list(kind, { namespace, limit: maxObjects }) as Promise<{ items: object[] }>),
  )
  const names = new Set(pages.flatMap(({ items }) => items.flatMap(listSecretNames)))
  const values = await Promise.all([...names].map((name) => readValues(secrets, { namespace, name })))
  return values.flat()
}

/** In every kind, fields that name a secret end with this. */
function listSecretNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([field, inner]) => {
    if (!/secretRef$/i.test(field)) return listSecretNames(inner)
    const name = (inner as { name?: unknown } | null)?.name
    return typeof name === 'string' ? [name] : []
  })
}

async function readValues(secrets: Ports['secrets'], key: ResourceKey): Promise<string[]> {
  try {
    return Object.values((await secrets.read(key)) ?? {})
  } catch (error) {
    // The service cannot have given a task what it may not read itself.
    if (isSvcError(error, 'Forbidden') || isSvcError(error, 'NotFound')) return []
    throw error
  }
}
