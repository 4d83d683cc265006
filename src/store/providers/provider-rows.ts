// What stores with one row per provider have in common: the lookup, and notifying listeners.
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { Database, Tx } from '../database/database.ts'
import { createListeners } from '../database/listeners.ts'
import { type Fragment, sql } from '../database/statement.ts'
import { encodeText } from '../database/stored-text.ts'

/** The one topic for all providers. */
const ALL = 'all'

export function matchProvider({ namespace, name }: ResourceKey): Fragment {
  return sql`namespace = ${encodeText(namespace)} and name = ${encodeText(name)}`
}

export type ProviderListeners = {
  /** Adds a callback; returns the function that removes it. */
  add(listener: (provider: ResourceKey) => void): () => void
  notify(provider: ResourceKey): void
  /** Notifies them, in every process on the database, once the unit of work is committed. */
  announce(tx: Tx, provider: ResourceKey): void
}

/** `onMissed`: notes may have been missed while the database was unavailable. */
export function createProviderListeners(
  database: Database,
  channel: string,
  onMissed: () => void = () => {},
): ProviderListeners {
  const listeners = createListeners<ResourceKey>()
  const notify = (provider: ResourceKey) => listeners.notify(ALL, provider)
  database.listen(channel, (note) => (note === undefined ? onMissed() : notify(JSON.parse(note) as ResourceKey)))
  return {
    add: (listener) => listeners.add(ALL, listener),
    notify,
    announce: (tx, { namespace, name }) => tx.announce(channel, JSON.stringify({ namespace, name })),
  }
}
