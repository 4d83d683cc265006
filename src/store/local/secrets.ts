// The Secrets port of embedded mode: values sealed by the key file, rows kept by a SecretStorage.
import { SvcError } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { createKeyedQueue } from '../../lib/keyed-queue.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { SecretChange, SecretDraft, SecretMetadata, Secrets } from '../../ports/resources/secrets.ts'
import { secretOwnerAnnotation } from '../../rules/identity/token-propagation.ts'
import type { SecretRow, SecretStorage } from '../resources/secret-storage.ts'
import type { SecretKeys } from './secret-key.ts'

export type EmbeddedSecretsOptions = { storage: SecretStorage; keys: SecretKeys; clock: Clock }

export type EmbeddedSecrets = Secrets & {
  /**
   * Creates a new key and seals every value again (MODE-015). A crash at any moment loses nothing: the old key stays in
   * the file as long as anything needs it, and the next rotation completes an interrupted one.
   */
  rotateKey(): Promise<{ secrets: number }>
}

function describeRow(row: SecretRow): SecretMetadata {
  const { namespace, name, type, annotations, createdAt } = row
  return { namespace, name, type, keys: Object.keys(row.entries).sort(), annotations, createdAt }
}

/** The context of a sealed value: it cannot be moved to another secret, key or namespace (MODE-013). */
function contextOf(key: ResourceKey, entry: string): string[] {
  return [key.namespace, key.name, entry]
}

function formatSeconds(now: Date): string {
  return `${now.toISOString().slice(0, 19)}Z`
}

function sealAll(keys: SecretKeys, key: ResourceKey, values: Record<string, string>): Record<string, Buffer> {
  const sealed = Object.entries(values).map(([entry, value]) => [entry, keys.seal(contextOf(key, entry), value)])
  return Object.fromEntries(sealed) as Record<string, Buffer>
}

function unsealAll(keys: SecretKeys, row: SecretRow): Record<string, string> {
  const values = Object.entries(row.entries).map(([entry, sealed]) => [
    entry,
    keys.unseal(contextOf(row, entry), sealed),
  ])
  return Object.fromEntries(values) as Record<string, string>
}

function isStale(keys: SecretKeys, row: SecretRow): boolean {
  return Object.values(row.entries).some((sealed) => !keys.isCurrent(sealed))
}

function notFound({ namespace, name }: ResourceKey): SvcError {
  return new SvcError('NotFound', `There is no secret ${namespace}/${name}.`)
}

async function resealAll({ storage, keys }: EmbeddedSecretsOptions): Promise<number> {
  let resealed = 0
  for (;;) {
    const stale = (await storage.list()).filter((row) => isStale(keys, row))
    if (stale.length === 0) return resealed
    for (const row of stale) {
      // False when the row has changed meanwhile: the next search sees its new value.
      if (await storage.replaceEntries(row, row.entries, sealAll(keys, row, unsealAll(keys, row)))) resealed++
    }
  }
}

export function createEmbeddedSecrets(options: EmbeddedSecretsOptions): EmbeddedSecrets {
  const { storage, keys, clock } = options
  const listeners = new Set<(key: ResourceKey) => void>()
  const queue = createKeyedQueue()
  /** One after another: a secret sealed under the old key must not arrive after the last search for such secrets. */
  const inTurn = <T>(work: () => Promise<T>) => queue.run('sealed', work)
  const announce = (key: ResourceKey) => {
    for (const listener of listeners) listener({ namespace: key.namespace, name: key.name })
  }
  const insert = async (draft: SecretDraft): Promise<SecretMetadata> => {
    const { namespace, name, owner } = draft
    const annotations = { ...draft.annotations, ...(owner !== undefined && { [secretOwnerAnnotation]: owner.uid }) }
    const entries = sealAll(keys, draft, draft.stringData)
    const row = { namespace, name, type: 'Opaque', annotations, createdAt: formatSeconds(clock.now()), entries }
    if (!(await storage.insert(row))) {
      throw new SvcError(
        'AlreadyExists',
        `The secret ${namespace}/${name} exists already: delete it first, or choose another name.`,
      )
    }
    return describeRow(row)
  }
  const change = async (key: ResourceKey, { stringData, remove }: SecretChange): Promise<SecretMetadata> => {
    for (;;) {
      const row = await storage.get(key)
      if (row === undefined) throw notFound(key)
      const remaining = Object.entries(row.entries).filter(([entry]) => !remove.includes(entry))
      const entries = { ...Object.fromEntries(remaining), ...sealAll(keys, key, stringData) }
      // False when somebody else changed it meanwhile.
      if (await storage.replaceEntries(key, row.entries, entries)) return describeRow({ ...row, entries })
    }
  }
  return {
    read: async (key) => {
      const row = await storage.get(key)
      return row === undefined ? undefined : unsealAll(keys, row)
    },
    describe: async (key) => {
      const row = await storage.get(key)
      return row === undefined ? undefined : describeRow(row)
    },
    list: async (namespace) => (await storage.list(namespace)).map(describeRow),
    create: async (draft) => {
      const metadata = await inTurn(() => insert(draft))
      announce(draft)
      return metadata
    },
    update: async (key, changes) => {
      const metadata = await inTurn(() => change(key, changes))
      announce(key)
      return metadata
    },
    remove: async (key) => {
      if (!(await storage.delete(key))) throw notFound(key)
      announce(key)
    },
    setOwner: async (key, { uid }) => {
      const row = await storage.get(key)
      const annotations = { ...row?.annotations, [secretOwnerAnnotation]: uid }
      if (row === undefined || !(await storage.replaceAnnotations(key, annotations))) throw notFound(key)
      announce(key)
    },
    removeOwned: async (namespace, ownerUid) => {
      const rows = await storage.list(namespace)
      for (const row of rows.filter(({ annotations }) => annotations[secretOwnerAnnotation] === ownerUid)) {
        if (await storage.delete(row)) announce(row)
      }
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    rotateKey: () =>
      inTurn(async () => {
        await keys.addKey()
        const secrets = await resealAll(options)
        await keys.dropOlder()
        return { secrets }
      }),
  }
}
