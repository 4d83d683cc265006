// Providers. A Secret's values are never part of an answer.
import { z } from 'zod'
import { Provider, priceFields } from '../../kinds/providers/provider.ts'
import { Name } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { ListMetadata, NamespaceQuery } from '../resources/list.ts'
import { defineCreate, defineDelete, defineGet, defineObjectList, defineUpdate } from '../resources/resource-routes.ts'
import { errorResponses, routesOf } from '../resources/route.ts'

const routesAt = { tag: 'Providers', base: '/api/v1/providers', noun: 'a provider' }

export const createProvider = defineCreate('Provider', routesAt)
export const listProviders = defineObjectList('Provider', routesAt)
export const getProvider = defineGet('Provider', routesAt, Provider)
export const updateProvider = defineUpdate('Provider', routesAt)
export const deleteProvider = defineDelete('Provider', routesAt)

/** The outcome of a provider's trial. */
export const ProviderTest = z
  .object({
    ok: field(z.boolean(), 'Whether nothing stands against calls of it.'),
    reason: field(
      z
        .enum([
          'MissingApiKey',
          'CredentialRefused',
          'CreditUsedUp',
          'AddressRefused',
          'WrongAddress',
          'Unreachable',
          'ProviderFailed',
        ])
        .optional(),
      'What stands against it, as one word for programs. Absent when `ok`.',
    ),
    message: field(
      z.string(),
      "What was found, in one sentence, with the vendor's own words where it refuses. Keys are cut out.",
      'provider "main" answers and offers 12 models',
    ),
    status: field(z.int().optional(), "HTTP status of the vendor's answer. Absent: none came.", 200),
    models: field(
      z.array(z.string()),
      'Models that the vendor offers and the caller may use, at most 1000. None where it does not list them.',
      ['large-model'],
    ),
    durationMs: field(z.int().min(0), 'How long the vendor took, in milliseconds.', 180),
  })
  .meta({ id: 'ProviderTest' })
export type ProviderTest = z.infer<typeof ProviderTest>

const one = routesOf({
  tag: routesAt.tag,
  base: `${routesAt.base}/:name`,
  kind: 'Provider',
  params: z.object({ name: field(Name, 'Name of the Provider.', 'main') }),
  query: NamespaceQuery,
})

export const testProvider = one.post('/test', {
  summary: 'Try a provider',
  description:
    "Asks the vendor for its list of models, with the provider's key: no call of a model, nothing to pay. " +
    'Answers 200 whatever is found; `ok` tells.',
  responses: { ...errorResponses(404), 200: { description: 'What was found', schema: ProviderTest } },
  verb: 'use',
})

/** The price of a model, and where it is from. */
export const AppliedPrice = z
  .object({
    model: field(z.string(), 'Name of the model, or a pattern of names as `spec.prices` has it.', 'large-*'),
    ...priceFields,
    from: field(
      z.enum(['provider', 'catalogue']),
      '`provider`: its owner has set it, which wins. `catalogue`: the vendor has published it.',
    ),
    vendor: field(z.string().optional(), 'Who publishes it. Absent: its owner has set it.', 'Example Inc'),
    asOf: field(z.string().optional(), 'Day on which it was looked up there.', '2026-01-31'),
    source: field(z.string().optional(), 'Page that it is published on.', 'https://example.com/pricing'),
  })
  .meta({ id: 'AppliedPrice' })
export type AppliedPrice = z.infer<typeof AppliedPrice>

/** Prices, those that win first. */
export const AppliedPriceList = z
  .object({
    items: field(z.array(AppliedPrice), 'Prices, those that win first.'),
    metadata: field(ListMetadata, 'Where the next page starts.'),
  })
  .meta({ id: 'AppliedPriceList' })

export const listPrices = one.get('/prices', {
  summary: 'List the prices of a provider',
  description:
    'Prices that the cost of its calls is computed from: those of its own, which win, and those that come with the service. ' +
    'With `model`: the one that applies to it, or none.',
  query: NamespaceQuery.extend({
    model: field(limitedText(256).min(1).optional(), 'Only the price that applies to this model.', 'large-model'),
  }),
  responses: { ...errorResponses(404), 200: { description: 'Prices', schema: AppliedPriceList } },
})
