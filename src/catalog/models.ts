// Resolves wishes for providers to what a model call needs: address, key, model. Nothing is cached: who asks sees the present.
import type { ModelChoice } from '../contract/api/assignment.ts'
import type { Provider } from '../contract/resources/provider.ts'
import { isSvcError, SvcError } from '../errors.ts'
import type { ResourceKey, ResourceReader } from '../ports/resources.ts'
import type { Secrets } from '../ports/secrets.ts'
import { type ChosenModel, chooseModels, expandWishes, type ProviderWish } from '../rules/model-choice.ts'
import { isTrustedAddress } from '../rules/trusted-address.ts'
import { readEntry } from './secret-entry.ts'

export type CatalogDeps = { resources: ResourceReader; secrets: Secrets }

/**
 * The choices in order of preference, with their keys. NotFound when the first provider or its key does not exist (yet),
 * InvalidRequest when no model is named. Fallbacks that lack anything are left out.
 */
export async function resolveModels(
  deps: CatalogDeps,
  wishes: [ProviderWish, ...ProviderWish[]],
): Promise<[ModelChoice, ...ModelChoice[]]> {
  const [primary] = wishes
  const expanded = expandWishes(wishes, await deps.resources.get('Provider', primary))
  const providers = await Promise.all(expanded.map((wish) => deps.resources.get('Provider', wish)))
  const find = (key: ResourceKey) =>
    providers.find((found) => found?.metadata.name === key.name && found.metadata.namespace === key.namespace)
  const chosen = chooseModels(expanded, find)
  if (chosen.outcome === 'missing') throw new SvcError('NotFound', chosen.message)
  if (chosen.outcome === 'invalid') throw new SvcError('InvalidRequest', chosen.message)
  const [first, ...fallbacks] = chosen.choices
  // A fallback without its key is no fallback; the first choice is what is needed.
  const others = await Promise.all(fallbacks.map((fallback) => assignModel(deps, fallback).catch(ignoreMissing)))
  return [await assignModel(deps, first), ...others.filter((choice) => choice !== undefined)]
}

function ignoreMissing(error: unknown): undefined {
  if (!isSvcError(error, 'NotFound')) throw error
}

async function assignModel(deps: CatalogDeps, { provider, model }: ChosenModel): Promise<ModelChoice> {
  return { model, provider: await assignProvider(deps, provider) }
}

/** What it takes to call a provider. NotFound when its key does not exist. */
export async function assignProvider(
  deps: Pick<CatalogDeps, 'secrets'>,
  provider: Provider,
): Promise<ModelChoice['provider']> {
  const { spec, metadata } = provider
  const credential = await readProviderKey(deps.secrets, provider)
  const isLimited = spec.rateLimit?.requestsPerMinute !== undefined || spec.rateLimit?.tokensPerMinute !== undefined
  return {
    namespace: metadata.namespace,
    name: metadata.name,
    type: spec.type,
    ...(isLimited && { rateLimit: spec.rateLimit }),
    ...(spec.baseURL !== undefined && { baseUrl: spec.baseURL }),
    ...(spec.azure !== undefined && { azure: spec.azure }),
    ...(spec.price !== undefined && { price: spec.price }),
    ...(isTrustedAddress(provider) && { trusted: true }),
    ...credential,
  }
}

async function readProviderKey(secrets: Secrets, provider: Provider) {
  const reference = provider.spec.secretRef
  if (reference === undefined) return {}
  const owner = `provider "${provider.metadata.name}"`
  const key = { namespace: provider.metadata.namespace, name: reference.name }
  const { value, allowedHosts } = await readEntry(secrets, key, { entry: reference.key, owner })
  return { apiKey: value, ...(allowedHosts && { allowedHosts }) }
}
