// Provider: an LLM vendor's endpoint, its credential, limits and price.
import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { Condition, defineResource, ForeignName, Timestamp } from './metadata.ts'
import { EntryKey, ModelFallback, refersTo, WebAddress } from './references.ts'
import { VendorType } from './vendor.ts'

export const RateLimit = z.strictObject({
  requestsPerMinute: z.int().min(1).optional(),
  tokensPerMinute: z.int().min(1).optional(),
})
export type RateLimit = z.infer<typeof RateLimit>

/** Far above what a million tokens cost in any currency. */
const amount = z.number().nonnegative().max(1_000_000_000, 'must be at most 1000000000')

/** What a million tokens cost; the user sets it (USAGE-001). */
export const Price = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, 'must be a currency code of three capital letters (ISO 4217)')
    .default('USD'),
  inputPerMillion: amount.optional(),
  outputPerMillion: amount.optional(),
  /** Input tokens read from the vendor's cache. Absent: priced as input. */
  cachedInputPerMillion: amount.optional(),
})
export type Price = z.infer<typeof Price>

export const Azure = z.strictObject({
  deploymentName: z.string().min(1, 'must not be empty').max(256),
  apiVersion: z.string().min(1, 'must not be empty').max(64).default('2024-02-15-preview'),
})
export type Azure = z.infer<typeof Azure>

export const ProviderSpec = z
  .strictObject({
    type: VendorType,
    /** The entry of an opaque Secret that holds the API key. Absent: the endpoint wants none. */
    secretRef: refersTo('Secret', z.strictObject({ name: ForeignName, key: EntryKey.default('api-key') })).optional(),
    /** Absent: the vendor's own address. */
    baseURL: WebAddress.optional(),
    /** Model of requests that name none. No model id is built in (PROV-012). */
    defaultModel: z.string().min(1, 'must not be empty').max(256).optional(),
    rateLimit: RateLimit.optional(),
    /** Tried in order, before the first byte, when this one is away, overloaded or refuses its key; an agent's own list goes before. */
    fallbacks: z.array(ModelFallback).max(8, 'must be at most 8').optional(),
    azure: Azure.optional(),
    price: Price.optional(),
    /** Whether the proxies run the tool loop for this provider. */
    serverTools: z.boolean().default(true),
  })
  .meta({
    id: 'ProviderSpec',
    'x-kubernetes-validations': [
      {
        rule: "self.type != 'azure-llmo' || (has(self.azure) && has(self.baseURL))",
        message: 'type azure-llmo needs azure.deploymentName and baseURL',
      },
    ],
  })
export type ProviderSpec = z.infer<typeof ProviderSpec>

/** Problems across fields; paths are relative to the spec. */
export function providerProblems(spec: ProviderSpec): Problem[] {
  if (spec.type !== 'azure-llmo') {
    return spec.azure === undefined ? [] : [{ path: 'azure', message: 'is only for type azure-llmo; remove it' }]
  }
  const problems: Problem[] = []
  if (spec.azure === undefined)
    problems.push({ path: 'azure.deploymentName', message: 'is required for type azure-llmo' })
  if (spec.baseURL === undefined) problems.push({ path: 'baseURL', message: 'is required for type azure-llmo' })
  return problems
}

export const ProviderStatus = z
  .object({
    ready: z.boolean().optional(),
    /** When type, address, Secret and key were last looked at. */
    lastValidated: Timestamp.optional(),
    /** When the vendor last answered (PROV-011). */
    lastReached: Timestamp.optional(),
    /** The vendor's last error, redacted; gone once it has answered again. */
    lastError: z.string().optional(),
    /** When that error was seen. */
    lastErrorAt: Timestamp.optional(),
    message: z.string().optional(),
    /** No calls before this time: the vendor said 429 or that it is overloaded (PROV-010). */
    coolingDownUntil: Timestamp.optional(),
    observedGeneration: z.int().min(0).optional(),
    conditions: z.array(Condition).optional(),
  })
  .meta({ id: 'ProviderStatus' })
export type ProviderStatus = z.infer<typeof ProviderStatus>

export const Provider = defineResource('Provider', { spec: ProviderSpec, status: ProviderStatus })
export type Provider = z.infer<typeof Provider>
