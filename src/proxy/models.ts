// The models that callers may name, prefixed with the provider: the configured ones first (the default provider's also
// without a prefix), then those that the vendors offer.
import type { Provider } from '../contract/kinds/providers/provider.ts'
import { SvcError } from '../errors.ts'
import { BoundedMap } from '../lib/bounded-map.ts'
import { createFairSemaphore } from '../lib/fair-semaphore.ts'
import type { JsonObject } from '../lib/json.ts'
import { createLookupCaches } from '../lookup/cache.ts'
import { providersTriedAtOnce } from '../lookup/models.ts'
import type { ProviderTrial } from '../ports/providers/provider-state.ts'
import { chooseDefault } from '../rules/providers/model-choice.ts'
import { mayAccess, requireAccess, requireRight } from '../usecases/identity/access.ts'
import { keepModels } from '../usecases/providers/models.ts'
import type { UsecaseDeps } from '../usecases/service/deps.ts'
import { tryProvider } from './provider-trial.ts'
import type { Asker, ProxyDefaults, ProxyFamily } from './types.ts'

/** A provider's name, a "/" and a model's name. */
const maxIdLength = 63 + 1 + 256

type ListedModel = { id: string; model: string; provider: Provider }

function nameModel({ metadata }: Provider, model: string): string {
  return `${metadata.name}/${model}`
}

function listConfigured(provider: Provider, isDefault: boolean, defaults: ProxyDefaults): ListedModel[] {
  const model = provider.spec.defaultModel ?? (isDefault ? defaults.model || undefined : undefined)
  if (model === undefined) return []
  return [{ id: nameModel(provider, model), model, provider }, ...(isDefault ? [{ id: model, model, provider }] : [])]
}

function keepFirst(models: ListedModel[]): ListedModel[] {
  const known = new Set<string>()
  return models.filter(({ id }) => !known.has(id) && known.add(id))
}

/** More than the clients of either family know; they ignore fields that they do not know. */
type Unavailable = { provider: string; message: string }

function describeUnready({ status }: Provider): string | undefined {
  return status?.ready === false ? (status.message ?? status.lastError) : undefined
}

export type ModelLister = {
  /**
   * Those of a namespace that the caller may use, by provider name, as the clients of a family expect them. Forbidden.
   */
  list(family: ProxyFamily, who: Asker): Promise<JsonObject>
  /** One of them by its id. NotFound; InvalidRequest for an id that is too long, which is never sent to a vendor. */
  get(family: ProxyFamily, id: string, who: Asker): Promise<JsonObject>
}

export function createModelLister(
  deps: UsecaseDeps,
  { defaults, offered }: { defaults: ProxyDefaults; offered: OfferedModels },
): ModelLister {
  async function listOffered(provider: Provider): Promise<ListedModel[]> {
    const { models } = await offered.ask(provider)
    return models.map((model) => ({ id: nameModel(provider, model), model, provider }))
  }

  /** Those that the caller may use but that cannot answer now, each with the reason; requests are tried anyway. */
  async function listUnavailable({ caller, namespace }: Asker): Promise<Unavailable[]> {
    const { items } = await deps.ports.resources.list('Provider', { namespace })
    const found = items.map(async (provider): Promise<Unavailable[]> => {
      const { name } = provider.metadata
      const message = (await offered.ask(provider)).fault?.message ?? describeUnready(provider)
      if (message === undefined) return []
      const may = await mayAccess(deps.ports, caller, { verb: 'use', kind: 'Provider', namespace, name })
      return may ? [{ provider: name, message }] : []
    })
    return (await Promise.all(found)).flat()
  }

  async function listAll({ caller, namespace }: Asker): Promise<ListedModel[]> {
    requireRight(caller, { verb: 'list', kind: 'Provider', namespace })
    const { items } = await deps.ports.resources.list('Provider', { namespace })
    const found = chooseDefault(items, [defaults.provider])
    const chosen = found.outcome === 'chosen' ? found.provider : undefined
    const configured = items.map((provider) => listConfigured(provider, provider === chosen, defaults))
    const models = keepFirst([...configured, ...(await Promise.all(items.map(listOffered)))].flat())
    const read = ({ provider, model }: ListedModel) => ({ namespace, name: provider.metadata.name, model })
    const visible = await keepModels(deps.ports, caller, { of: models, read })
    // A caller who may use some models sees those, even if the list is refused; a caller who may use none learns why.
    if (visible.length === 0) await requireAccess(deps.ports, caller, { verb: 'list', kind: 'Provider', namespace })
    return visible
  }

  return {
    list: async (family, who) => {
      const models = writeModels(family, await listAll(who))
      const unavailable = await listUnavailable(who)
      return unavailable.length === 0 ? models : { ...models, unavailable_providers: unavailable }
    },
    async get(family, id, who) {
      if (id.length > maxIdLength)
        throw new SvcError('InvalidRequest', `model: must have at most ${maxIdLength} characters`)
      const found = (await listAll(who)).find((model) => model.id === id)
      if (found !== undefined) return writeModel(family, found)
      throw new SvcError('NotFound', `model: there is no "${id}" here; the list of models shows what there is`)
    },
  }
}

/** One model as the clients of a family expect it. */
function writeModel(family: ProxyFamily, { id, provider }: ListedModel): JsonObject {
  const created = provider.metadata.creationTimestamp
  if (family === 'llma') return { type: 'model', id, display_name: id, created_at: created }
  return { id, object: 'model', created: Math.floor(Date.parse(created) / 1000), owned_by: provider.metadata.name }
}

/** The list as the clients of a family expect it (LLMA-041, LLMO-009). */
function writeModels(family: ProxyFamily, models: ListedModel[]): JsonObject {
  const data = models.map((model) => writeModel(family, model))
  if (family === 'llmo') return { object: 'list', data }
  return { data, has_more: false, first_id: models.at(0)?.id ?? null, last_id: models.at(-1)?.id ?? null }
}

export type OfferedModels = {
  /** The vendor's own names, or why it gives none. */
  ask(provider: Provider): Promise<ProviderTrial>
  /**
   * Whether the vendor lists a model of this name, now or when its list was last to be had. UpstreamFailed when there is
   * a list that was never to be had.
   */
  lists(provider: Provider, model: string): Promise<boolean>
  close(): void
}

const cacheMs = 60_000
const maxLists = 1000

function versionOf({ metadata: { uid, generation } }: Provider): string {
  return `${uid} ${generation}`
}

export function createOfferedModels(deps: Pick<UsecaseDeps, 'ports' | 'settings'>): OfferedModels {
  const caches = createLookupCaches(deps.ports, { kinds: ['Provider'], maxAgeMs: cacheMs })
  const cache = caches.createCache<ProviderTrial>()
  const semaphore = createFairSemaphore(providersTriedAtOnce)
  const closing = new AbortController()
  /** What each vendor listed last, by the version of its Provider. */
  const lists = new BoundedMap<string, ReadonlySet<string>>({ max: maxLists })

  async function load(provider: Provider): Promise<ProviderTrial> {
    const { namespace } = provider.metadata
    await semaphore.acquire(namespace, closing.signal)
    try {
      const trial = await tryProvider(deps, provider, closing.signal)
      if (trial.models.length > 0) lists.set(versionOf(provider), new Set(trial.models))
      return trial
    } finally {
      semaphore.release(namespace)
    }
  }

  function ask(provider: Provider): Promise<ProviderTrial> {
    const { namespace, name } = provider.metadata
    const loadOrNone = () => load(provider).catch(() => ({ models: [] }))
    return cache.get(`${namespace}/${name}`, { namespace, load: loadOrNone })
  }

  return {
    ask,
    async lists(provider, model) {
      const version = versionOf(provider)
      if (lists.get(version)?.has(model)) return true
      const { fault, models } = await ask(provider)
      if (fault === undefined || lists.has(version)) return models.includes(model)
      const what = `whether provider "${provider.metadata.name}" has a model "${model}" cannot be known`
      throw new SvcError('UpstreamFailed', `model: ${what}: ${fault.message}`)
    },
    close() {
      closing.abort()
      caches.close()
    },
  }
}
