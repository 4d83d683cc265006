// How recent calls of each provider went, over all replicas (PROV-011).
import type { ResourceKey } from '../resources/resources.ts'

export type ProviderContact = {
  /** When a call was last answered; absent if none was. */
  goodAt?: Date
  /** The last call that failed through no fault of the request: when, and why, in a few words without secrets. */
  failed?: { at: Date; reason: string }
  /** Calls that failed since the last good one; 0: the provider answers. Approximate while several replicas record. */
  failures: number
}

/** What one replica observed over a time; `failures` counts those since `goodAt`, or all when it is absent. */
export type ProviderNote = ProviderContact & { provider: ResourceKey }

export interface ProviderHealth {
  /** Merges into what is stored, all or nothing: the newest of each side stays, whatever the order of the replicas. */
  note(notes: readonly ProviderNote[]): Promise<void>
  /**
   * Undefined until something is recorded. Records are by name: one older than the provider belongs to a predecessor.
   */
  read(provider: ResourceKey): Promise<ProviderContact | undefined>
  /**
   * Calls back with a provider that answers for the first time, starts to fail or answers again; returns the
   * unsubscribe function. It need not report what another replica records, so poll as well.
   */
  onChange(listener: (provider: ResourceKey) => void): () => void
  /** Removes the records of providers that were not called since; returns how many. */
  sweep(before: Date): Promise<number>
}
