// Resolves a model name to a provider. Results are cached until a Provider or a Secret changes.
import type { ModelChoice } from '../contract/api/tasks/assignment.ts'
import type { Provider } from '../contract/kinds/providers/provider.ts'
import { isSvcError, SvcError } from '../errors.ts'
import { createLookupCaches } from '../lookup/cache.ts'
import { lookUpDefault, requireDefault, resolveModels } from '../lookup/models.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import type { BytePipe } from '../ports/service/egress.ts'
import { findSpelling, splitModel } from '../rules/agents/provider.ts'
import { policyOf } from '../usecases/providers/models.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import type { OfferedModels } from './models.ts'
import { createTarget, type ProxyTarget, providerAddress, proxyFamilyOf, type TargetParts } from './target.ts'
import type { ProxyDefaults } from './types.ts'

const maxNames = 20

function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'there is none'
  const rest = names.length - maxNames
  const shown = names.slice(0, maxNames).map((name) => `"${name}"`)
  return `there are ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/**
 * A model whose first part is not the name of a provider names a misspelt one, unless the default provider has a model of that
 * whole name: a request never goes to a vendor that it does not name (ADR 68). NotFound with the names there are. `standIn`: the default provider, which has no model of that name
 * either.
 */
async function refuseUnknownProvider(
  resources: ResourceReader,
  { namespace, model, standIn }: { namespace: string; model: string; standIn?: string },
): Promise<never> {
  const { items } = await resources.list('Provider', { namespace })
  const names = items.map(({ metadata }) => metadata.name)
  const meant = findSpelling(model, names)
  const there = `${listNames(names)}${meant ? `; did you mean "${meant}"?` : '.'}`
  const own = standIn && `; a model that "${standIn}" does not list is named "${standIn}/${model}"`
  throw new SvcError(
    'NotFound',
    `model: there is no provider "${splitModel(model)?.provider}" in namespace "${namespace}"; ${there} A request names one as provider/model${own ?? ''}`,
  )
}

/**
 * Whether a provider has a model of this name, by its settings or its vendor's list. UpstreamFailed when that list cannot
 * be had.
 */
async function hasModel(offered: OfferedModels, provider: Provider, model: string): Promise<boolean> {
  return model === provider.spec.defaultModel || offered.lists(provider, model)
}

export type Targets = {
  /** NotFound for an unknown provider, InvalidRequest for an unknown model, UpstreamFailed when the key is missing. */
  find(namespace: string, model: string | undefined): ProxyTarget | Promise<ProxyTarget>
  close(): void
}

type Wish = { provider: Provider; model: string | undefined }

/** Limits how long a change by another replica, which this one was not notified of, goes unnoticed. */
const maxAgeMs = 5000

/** Bytes are never passed through to the demo provider. */
const noPipe: BytePipe = {
  send() {
    throw new SvcError('Internal', 'this provider has no address')
  },
}

/** Rewords an error for the caller's own request. */
function explainNoDefault(error: unknown): never {
  if (!isSvcError(error)) throw error
  throw new SvcError(error.reason, `model: ${error.message}; a request names one as provider/model`, { cause: error })
}

type Resolver = { deps: UsecaseDeps; defaults: ProxyDefaults; offered: OfferedModels }

function getProvider({ deps }: Resolver, namespace: string, name: string): Promise<Provider | undefined> {
  return deps.ports.resources.get('Provider', { namespace, name })
}

async function findDefault({ deps, defaults }: Resolver, namespace: string): Promise<Provider> {
  const preferred = defaults.provider === '' ? [] : [defaults.provider]
  return requireDefault(await lookUpDefault(deps.ports.resources, namespace, preferred), namespace)
}

async function findWish(resolver: Resolver, namespace: string, name: string | undefined): Promise<Wish> {
  const { provider: prefix, model } = splitModel(name) ?? {}
  if (name === undefined || prefix === undefined) return findPlain(resolver, namespace, name)
  const provider = await getProvider(resolver, namespace, prefix)
  return provider === undefined ? findWhole(resolver, namespace, name) : { provider, model: model || undefined }
}

async function findPlain(resolver: Resolver, namespace: string, name: string | undefined): Promise<Wish> {
  const provider = await findDefault(resolver, namespace).catch(explainNoDefault)
  return { provider, model: name || provider.spec.defaultModel || resolver.defaults.model || undefined }
}

/** A name with slashes that names no provider: the default provider's own, or nobody's. */
async function findWhole(resolver: Resolver, namespace: string, model: string): Promise<Wish> {
  const { deps, defaults, offered } = resolver
  const { resources } = deps.ports
  const isUnclear = (error: unknown) => isSvcError(error, 'NotFound') || isSvcError(error, 'InvalidRequest')
  const provider = await findDefault(resolver, namespace).catch((error) =>
    isUnclear(error) ? refuseUnknownProvider(resources, { namespace, model }) : Promise.reject(error),
  )
  if (model === defaults.model || (await hasModel(offered, provider, model))) return { provider, model }
  return refuseUnknownProvider(resources, { namespace, model, standIn: provider.metadata.name })
}

async function openTarget({ deps }: Resolver, choice: ModelChoice, parts: Omit<TargetParts, 'choice' | 'pipe'>) {
  const hasAddress = proxyFamilyOf(choice.provider) !== undefined
  const policy = policyOf(choice, deps.settings)
  const pipe = hasAddress ? await deps.ports.egress.openPipe(providerAddress(choice.provider), policy) : noPipe
  return createTarget({ choice, pipe, ...parts })
}

async function resolveTarget(resolver: Resolver, namespace: string, name: string | undefined): Promise<ProxyTarget> {
  const { ports } = resolver.deps
  const { provider, model } = await findWish(resolver, namespace, name)
  requireModel(provider, model)
  const wish = { namespace, name: provider.metadata.name, field: 'model', model }
  const [choice, ...others] = await resolveModels(ports, [wish]).catch(explainMissing)
  requireKey(choice)
  const parts = { serverTools: provider.spec.serverTools, namespace }
  const fallbacks = await Promise.all(others.map((other) => openTarget(resolver, other, parts)))
  return openTarget(resolver, choice, { ...parts, fallbacks })
}

export function createTargets(deps: UsecaseDeps, defaults: ProxyDefaults, offered: OfferedModels): Targets {
  const caches = createLookupCaches(deps.ports, { kinds: ['Provider'], maxAgeMs })
  const cache = caches.createCache<ProxyTarget>()
  const resolver = { deps, defaults, offered }
  return {
    find(namespace, model) {
      const key = `${namespace}\n${model ?? ''}`
      return cache.peek(key) ?? cache.get(key, { load: () => resolveTarget(resolver, namespace, model) })
    },
    close: caches.close,
  }
}

/** A self-hosted server may need no key. */
function requireKey({ provider }: ModelChoice): void {
  const { type, baseUrl, apiKey, namespace, name } = provider
  const needsKey = type !== 'demo' && (baseUrl === undefined || type === 'azure-llmo')
  if (!needsKey || apiKey !== undefined) return
  const advice = 'set spec.secretRef of the Provider to a Secret that holds it'
  throw new SvcError('UpstreamFailed', `Provider ${namespace}/${name} has no API key; ${advice}`)
}

function requireModel({ spec, metadata }: Provider, model: string | undefined): void {
  if (model !== undefined || spec.defaultModel !== undefined || spec.type === 'demo') return
  throw new SvcError('InvalidRequest', `model: is required; provider "${metadata.name}" has no default model`)
}

/** The provider exists, but not its key: nothing that the caller named is missing. */
function explainMissing(error: unknown): never {
  if (isSvcError(error, 'NotFound')) throw new SvcError('UpstreamFailed', error.message, { cause: error })
  throw error
}
