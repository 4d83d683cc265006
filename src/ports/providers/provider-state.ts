// What replicas share of providers: token buckets, cool-downs (PROV-009, PROV-010), health, and trials.
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import type { CallFailure } from '../../contract/kinds/tasks/failures.ts'
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

/** Why nothing can be asked of it now. */
export type TrialFault = {
  reason:
    | 'MissingApiKey'
    | 'CredentialRefused'
    | 'CreditUsedUp'
    | 'AddressRefused'
    | 'WrongAddress'
    | 'Unreachable'
    | 'ProviderFailed'
  /** One sentence on one line, with the vendor's words where it has said something; without the key, 500 characters at most. */
  message: string
}

/** What one trial has found. */
export type ProviderTrial = {
  /** The vendor's own names, in its order; none where it does not say. */
  models: string[]
  /** HTTP status of its answer; absent: none came, or none was needed. */
  status?: number
  fault?: TrialFault
}

/** Asks the vendor for its list of models, with the provider's key. Rejects when aborted, or when the key cannot be looked up. */
export type TryProvider = (provider: Provider, signal: AbortSignal) => Promise<ProviderTrial>

export type BucketLimit = { requestsPerMinute?: number; tokensPerMinute?: number }

/** The owner of the buckets: a provider, or an agent for all its model calls. */
export type Limited = ResourceKey & { kind?: 'Agent' }

export type Lease =
  /** `tokens`: how many were taken, for `settle`. */
  { granted: true; tokens: number } | { granted: false; retryAfterMs: number }

/** A cool-down of a provider or of one of its models. */
export type CoolDown = {
  /** Absent: every model of the provider. */
  model?: string
  until: Date
  /** The vendor's words. */
  reason: string
  /** The same in the words shown to those who wait. */
  failure: CallFailure
  /**
   * True when the vendor named the time: nothing is sent until then. Otherwise other providers are preferred, but a
   * call without an alternative may try.
   */
  asked: boolean
}

export interface RateLimits {
  /**
   * Takes from the buckets of a provider or agent, all or nothing. Buckets refill continuously and hold one minute's
   * worth: a request for more tokens than that gets one minute's worth, once the bucket is full.
   */
  take(whose: Limited, want: { requests: number; tokens: number }, limit: BucketLimit): Promise<Lease>
  /** Corrects the tokens of a lease: the actual number minus those taken (may be negative). */
  settle(whose: Limited, tokens: number, limit: BucketLimit): Promise<void>
  /** Records a cool-down for everyone who shares the provider; of two for the same model the later end wins. */
  coolDown(provider: ResourceKey, coolDown: CoolDown): Promise<void>
  /** The cool-down of the model that ends last; without a model, of the whole provider. */
  coolingDown(provider: ResourceKey, model?: string): Promise<CoolDown | undefined>
  /** The same from memory, for callers that cannot wait: this process's own at once, those of others within seconds. */
  peekCoolDown(provider: ResourceKey, model: string): CoolDown | undefined
  /**
   * Calls back with the provider whose cool-down was set or extended; returns the unsubscribe function. It need not
   * report what another replica sets, so poll as well.
   */
  onCoolDown(listener: (provider: ResourceKey) => void): () => void
  /** Removes full buckets that nothing was taken from since and that are not cooling down; returns how many. */
  sweep(before: Date): Promise<number>
}
