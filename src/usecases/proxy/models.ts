// The models that callers may name: of each provider its default model, with the provider before it and, of the default provider, bare.
import type { Provider } from '../../contract/resources/provider.ts'
import type { Caller } from '../../ports/identity.ts'
import { defaultProviderName } from '../../rules/model-choice.ts'
import { requireAccess } from '../access.ts'
import type { UsecaseDeps } from '../deps.ts'
import type { ProxyDefaults } from './resolve.ts'
import type { JsonObject, ProxyFamily } from './types.ts'

type ListedModel = { id: string; provider: Provider }

function listOf(provider: Provider, isDefault: boolean, model: string | undefined): ListedModel[] {
  if (model === undefined) return []
  const id = `${provider.metadata.name}/${model}`
  return [{ id, provider }, ...(isDefault ? [{ id: model, provider }] : [])]
}

/** The models of a namespace in the order of the providers' names. */
export async function listModels(
  deps: UsecaseDeps,
  defaults: ProxyDefaults,
  who: { caller: Caller; namespace: string },
): Promise<ListedModel[]> {
  const { namespace } = who
  await requireAccess(deps.ports, who.caller, { verb: 'list', kind: 'Provider', namespace })
  const { items } = await deps.ports.resources.list('Provider', { namespace })
  const names = items.map((provider) => provider.metadata.name)
  const chosen = names.includes(defaults.provider) ? defaults.provider : defaultProviderName
  return items.flatMap((provider) => {
    const isDefault = provider.metadata.name === chosen
    const model = provider.spec.defaultModel ?? (isDefault ? defaults.model || undefined : undefined)
    return listOf(provider, isDefault, model)
  })
}

/** The list as the clients of a family expect it (LLMA-041, LLMO-009). */
export function writeModels(family: ProxyFamily, models: ListedModel[]): JsonObject {
  const data = models.map(({ id, provider }) => {
    const created = provider.metadata.creationTimestamp
    if (family === 'llma') return { type: 'model', id, display_name: id, created_at: created }
    return { id, object: 'model', created: Math.floor(Date.parse(created) / 1000), owned_by: provider.metadata.name }
  })
  if (family === 'llmo') return { object: 'list', data }
  return { data, has_more: false, first_id: models.at(0)?.id ?? null, last_id: models.at(-1)?.id ?? null }
}
