// How the calls of each provider went of late, over all replicas (PROV-011).
import type { ResourceKey } from './resources.ts'

export type ProviderContact = {
  /** When a call was last answered; absent: none was. */
  goodAt?: Date
  /** The last call that failed through no fault of the request: when, and why in a few words free of secrets. */
  failed?: { at: Date; reason: string }
  /** Calls that failed since the last good one; 0: the provider answers. Near enough while replicas note at once. */
  failures: number
}

/** What one replica saw in a while; `failures` are those since `goodAt`, or all of them without it. */
export type ProviderNote = ProviderContact & { provider: ResourceKey }

export interface ProviderHealth {
  /** Adds to what is known, all or nothing: of each side the newest stays, in whatever order replicas note. */
  note(notes: readonly ProviderNote[]): Promise<void>
  /** Undefined while nothing was noted. Providers are known by name: what is older than a provider was another's. */
  read(provider: ResourceKey): Promise<ProviderContact | undefined>
  /**
   * Calls back with a provider that was answered for the first time, began to fail or answers again; returns the
   * unsubscribe function. What another replica notes need not be told: look now and then as well.
   */
  onChange(listener: (provider: ResourceKey) => void): () => void
  /** Removes what is known of providers that were not called since; how many. */
  sweep(before: Date): Promise<number>
}
