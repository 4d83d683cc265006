// Resolves requested providers to what a model call needs: address, key, model. Nothing is cached: callers see the
// current state.
import type { ModelChoice } from '../contract/api/tasks/assignment.ts'
import type { Provider } from '../contract/kinds/providers/provider.ts'
import { isSvcError, messageOf, SvcError } from '../errors.ts'
import type { ResourceKey, ResourceReader } from '../ports/resources/resources.ts'
import type { Secrets } from '../ports/resources/secrets.ts'
import { findPrice } from '../rules/budgets/budget.ts'
import { isTrustedAddress } from '../rules/providers/address.ts'
import {
  chooseDefault,
  chooseModels,
  type DefaultProvider,
  expandWishes,
  explainNoDefault,
  type ProviderWish,
  type ResolvedModel,
} from '../rules/providers/model-choice.ts'
import { readEntry } from './entries.ts'

export type ModelLookupDeps = { resources: ResourceReader; secrets: Secrets }

/** How many vendors one replica asks at a time whether, and with which models, they answer. */
export const providersTriedAtOnce = 16

type Wishes = [ProviderWish, ...ProviderWish[]]

/** The provider that answers when none is named. */
export async function lookUpDefault(
  resources: ResourceReader,
  namespace: string,
  preferred: readonly string[] = [],
): Promise<DefaultProvider> {
  for (const name of preferred) {
    const provider = await resources.get('Provider', { namespace, name })
    if (provider !== undefined) return { outcome: 'chosen', provider }
  }
  return chooseDefault((await resources.list('Provider', { namespace })).items)
}

/** NotFound when there is none, InvalidRequest when somebody has to choose one. */
export function requireDefault(found: DefaultProvider, namespace: string): Provider {
  if (found.outcome === 'chosen') return found.provider
  throw new SvcError(found.outcome === 'none' ? 'NotFound' : 'InvalidRequest', explainNoDefault(found, namespace))
}

/** Fills in the provider where none is named; unchanged when the namespace has no default. */
export async function nameDefault(resources: ResourceReader, wishes: Wishes): Promise<Wishes> {
  const [primary, ...others] = wishes
  if (primary.field !== '') return wishes
  const found = await lookUpDefault(resources, primary.namespace)
  return found.outcome === 'chosen' ? [{ ...primary, name: found.provider.metadata.name }, ...others] : wishes
}

async function requireNamed(resources: ResourceReader, [primary, ...others]: Wishes): Promise<Wishes> {
  if (primary.field !== '') return [primary, ...others]
  const provider = requireDefault(await lookUpDefault(resources, primary.namespace), primary.namespace)
  return [{ ...primary, name: provider.metadata.name }, ...others]
}

/**
 * The choices in order of preference, with their keys. NotFound when the first provider or its key does not exist
 * (yet), InvalidRequest when no model is named, or several providers qualify. Incomplete fallbacks are left out.
 */
export async function resolveModels(
  deps: ModelLookupDeps,
  requested: Wishes,
): Promise<[ModelChoice, ...ModelChoice[]]> {
  const wishes = await requireNamed(deps.resources, requested)
  const [primary] = wishes
  const expanded = expandWishes(wishes, await deps.resources.get('Provider', primary))
  const providers = await Promise.all(expanded.map((wish) => deps.resources.get('Provider', wish)))
  const find = (key: ResourceKey) =>
    providers.find((found) => found?.metadata.name === key.name && found.metadata.namespace === key.namespace)
  const chosen = chooseModels(expanded, find)
  if (chosen.outcome === 'missing') throw new SvcError('NotFound', chosen.message)
  if (chosen.outcome === 'invalid') throw new SvcError('InvalidRequest', chosen.message)
  const [first, ...fallbacks] = chosen.choices
  // A fallback without its key is useless; the first choice must be complete.
  const others = await Promise.all(fallbacks.map((fallback) => assignModel(deps, fallback).catch(ignoreMissing)))
  return [await assignModel(deps, first), ...others.filter((choice) => choice !== undefined)]
}

function ignoreMissing(error: unknown): undefined {
  if (!isSvcError(error, 'NotFound')) throw error
}

async function assignModel(deps: ModelLookupDeps, { provider, model }: ResolvedModel): Promise<ModelChoice> {
  const price = findPrice(provider.spec, model)
  return { model, provider: { ...(await assignProvider(deps, provider)), price } }
}

/** What it takes to call a provider, whatever the model. NotFound when its key does not exist. */
export async function assignProvider(
  deps: Pick<ModelLookupDeps, 'secrets'>,
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
    baseUrl: spec.baseURL,
    azure: spec.azure,
    ...(isTrustedAddress(provider) && { trusted: true }),
    ...credential,
  }
}

/** Why `assignProvider` could not assign it, in words; every other error is thrown again. */
export function explainUnassigned(error: unknown): string {
  if (!isSvcError(error, 'NotFound') && !isSvcError(error, 'InvalidRequest')) throw error
  return messageOf(error)
}

async function readProviderKey(secrets: Secrets, provider: Provider) {
  const reference = provider.spec.secretRef
  if (reference === undefined) return {}
  const owner = `provider "${provider.metadata.name}"`
  const key = { namespace: provider.metadata.namespace, name: reference.name }
  const { value, allowedHosts } = await readEntry(secrets, key, { entry: reference.key, owner })
  return { apiKey: value, allowedHosts }
}
