// Provider: an LLM vendor's endpoint, its credential, limits and price.
import { z } from 'zod'
import type { Problem } from '../../../errors.ts'
import { field, oneHolds, publishedMark } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { Condition, defineResource, ForeignName, Timestamp } from '../resources/metadata.ts'
import { EntryKey, ModelFallback, refersTo, WebAddress } from '../resources/references.ts'
import { CurrencyCode } from './model-use.ts'

/** The words as they are stored. `demo` is not a language model (PROV-014). */
export const vendorTypes = ['llma', 'llmo', 'azure-llmo', 'demo'] as const
/** The vendors' APIs. */
export type VendorType = (typeof vendorTypes)[number]

/** Vendor names accepted as input, and the word stored for each (NAME-006, NAME-009, NAME-017). */
export const vendorAliases = { anthropic: 'llma', openai: 'llmo', 'azure-openai': 'azure-llmo' } as const

type VendorInput = VendorType | keyof typeof vendorAliases

function toVendorType(word: VendorInput): VendorType {
  return (vendorAliases as Partial<Record<VendorInput, VendorType>>)[word] ?? (word as VendorType)
}

/** Every word that is read as the type. */
export function spellingsOf(type: VendorType): string[] {
  return [type, ...Object.entries(vendorAliases).flatMap(([alias, word]) => (word === type ? [alias] : []))]
}

/** Accepts a vendor word or its alias and returns the neutral word. */
export const VendorType = z
  .enum([...vendorTypes, 'anthropic', 'openai', 'azure-openai'])
  .transform(toVendorType)
  .pipe(z.enum(vendorTypes))
  .meta({ 'x-svc-aliases': vendorAliases })

/** Limits per minute, shared by all replicas. */
export const RateLimit = z.strictObject({
  requestsPerMinute: field(
    z.int().min(1).optional(),
    'Requests per minute, over all replicas. Without it: no limit.',
    60,
  ),
  tokensPerMinute: field(
    z.int().min(1).optional(),
    'Tokens per minute, input and output together, over all replicas. Without it: no limit.',
    100000,
  ),
})
export type RateLimit = z.infer<typeof RateLimit>

/** Far above the cost of a million tokens in any currency. */
const amount = z.number().nonnegative().max(1_000_000_000, 'must be at most 1000000000')

/** Currency and amounts of a price. */
export const priceFields = {
  currency: field(CurrencyCode, 'Currency of the prices (ISO 4217).', 'USD'),
  inputPerMillion: field(amount.optional(), 'Price of a million input tokens.', 2.5),
  outputPerMillion: field(amount.optional(), 'Price of a million output tokens.', 10),
  cachedInputPerMillion: field(
    amount.optional(),
    "Price of a million input tokens that come from the vendor's cache. Without it: the same as `inputPerMillion`.",
    0.25,
  ),
  cacheWritePerMillion: field(
    amount.optional(),
    "Price of a million input tokens that are written to the vendor's cache. Without it: the same as `inputPerMillion`.",
    3.75,
  ),
}

/** Prices of a million tokens, set by the user (USAGE-001). */
export const Price = z.strictObject(priceFields)
export type Price = z.infer<typeof Price>

/** Prices of a million tokens of some models. */
export const ModelPrice = z.strictObject({
  model: field(
    limitedText(256).min(1, 'must not be empty'),
    'Name of the model, with `*` for any text and `?` for any character. Of several that fit, the one with the most other characters counts.',
    'large-*',
  ),
  ...priceFields,
})
export type ModelPrice = z.infer<typeof ModelPrice>

/** Settings of the type `azure-llmo`. */
export const Azure = z.strictObject({
  deploymentName: field(limitedText(256).min(1, 'must not be empty'), 'Name of the deployment.', 'large-model'),
  apiVersion: field(
    limitedText(64).min(1, 'must not be empty').default('2024-02-15-preview'),
    "Version of the vendor's interface.",
    '2024-02-15-preview',
  ),
})
export type Azure = z.infer<typeof Azure>

const ofAzure = { enum: spellingsOf('azure-llmo') }
/** JSON Schema: `azure` and `baseURL` for one type, and no `azure` for the others. */
const azureRule = oneHolds(
  { properties: { type: ofAzure }, required: ['azure', 'baseURL'] },
  { properties: { type: { not: ofAzure } }, not: { required: ['azure'] } },
)

/** The spec of a provider. */
export const ProviderSpec = z
  .strictObject({
    type: field(VendorType, 'Interface that the vendor speaks.'),
    secretRef: field(
      refersTo(
        'Secret',
        z.strictObject({
          name: field(ForeignName, 'Name of the Secret.', 'main-key'),
          key: field(EntryKey.default('api-key'), 'Entry of the Secret.', 'api-key'),
        }),
      ).optional(),
      'Entry of a Secret that holds the API key. Without it: the endpoint needs no key.',
    ),
    baseURL: field(
      WebAddress.optional(),
      "Address of the vendor's interface. Without it: the vendor's own address.",
      'https://api.example.com/v1',
    ),
    defaultModel: field(
      limitedText(256).min(1, 'must not be empty').optional(),
      'Model of requests that name none.',
      'large-model',
    ),
    default: field(
      z.boolean().optional(),
      'Whether it answers in its namespace where no provider is named. Without such a mark the Provider named `default` does.',
      true,
    ),
    rateLimit: field(RateLimit.optional(), 'Most requests and tokens per minute that the service sends to the vendor.'),
    fallbacks: field(
      z.array(ModelFallback).max(8, 'must be at most 8').optional(),
      "Providers to try in this order when this one cannot be reached, is overloaded or refuses its key; at most 8. An agent's list comes first.",
    ),
    azure: field(Azure.optional(), 'Settings of the type `azure-llmo`.'),
    price: field(
      Price.optional(),
      'Prices of models that `prices` does not name. Without any: what the vendor of the model has published, as far as it is known.',
    ),
    prices: field(
      z.array(ModelPrice).max(100, 'must be at most 100').optional(),
      'Prices by model, from which the cost of each call is computed; at most 100.',
    ),
    serverTools: field(
      z.boolean().default(true),
      'Whether the proxies offer the tools of the service to models of this provider.',
    ),
  })
  .meta({
    id: 'ProviderSpec',
    [publishedMark]: azureRule,
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

/** The status of a provider, written by the service. */
export const ProviderStatus = z
  .object({
    ready: field(z.boolean().optional(), 'Whether the provider can be used.'),
    lastValidated: field(Timestamp.optional(), 'When type, address, Secret and key were last checked.'),
    lastReached: field(Timestamp.optional(), 'When the vendor last answered.'),
    lastError: field(
      z.string().optional(),
      "The vendor's last error, without secrets. Removed as soon as the vendor answers again.",
      'the vendor refused the key (401)',
    ),
    lastErrorAt: field(Timestamp.optional(), 'When that error occurred.'),
    message: field(
      z.string().optional(),
      'Why the provider is ready or not, in one sentence.',
      'the Secret main-key is missing',
    ),
    coolingDownUntil: field(
      Timestamp.optional(),
      'No calls are sent before this time, because the vendor answered 429 or was overloaded.',
    ),
    observedGeneration: field(z.int().min(0).optional(), 'The `metadata.generation` that this status is about.', 1),
    conditions: field(z.array(Condition).optional(), 'Conditions in the form that Kubernetes uses.'),
  })
  .meta({ id: 'ProviderStatus' })
export type ProviderStatus = z.infer<typeof ProviderStatus>

/** A provider as it is stored. */
export const Provider = defineResource('Provider', { spec: ProviderSpec, status: ProviderStatus })
export type Provider = z.infer<typeof Provider>
