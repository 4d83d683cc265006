// Whether a provider can be asked at all, found out without spending a token (PROV-013).
import type { Provider } from '../../contract/kinds/providers/provider.ts'

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
