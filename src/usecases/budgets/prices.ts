// Which price applies to the calls of a provider, and where it is from.
import type { AppliedPrice } from '../../contract/api/providers/providers.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { choosePrice } from '../../rules/budgets/budget.ts'
import { type ListedPrice, priceCatalogue } from '../../rules/budgets/price-catalogue.ts'
import { requireAccess } from '../identity/access.ts'
import { explainAbsent } from '../resources/listing.ts'
import type { UsecaseDeps } from '../service/deps.ts'

export type PriceUsecases = {
  /** Those of its own first, then the published ones; with a model, the one that applies. NotFound. */
  list(caller: Caller, key: ResourceKey, model?: string): Promise<AppliedPrice[]>
}

function presentListed({ model, price, vendor, source, asOf }: ListedPrice): AppliedPrice {
  return { model, ...price, from: 'catalogue', vendor, asOf, source }
}

function listAll({ spec: { price, prices = [] } }: Provider): AppliedPrice[] {
  const own = [...prices, ...(price === undefined ? [] : [{ model: '*', ...price }])]
  return [...own.map((one) => ({ ...one, from: 'provider' as const })), ...priceCatalogue.map(presentListed)]
}

function listApplied({ spec }: Provider, model: string): AppliedPrice[] {
  const applied = choosePrice(spec, model)
  if (applied === undefined) return []
  if (applied.listed !== undefined) return [presentListed(applied.listed)]
  return [{ model: applied.model, ...applied.price, from: 'provider' }]
}

export function createPriceUsecases({ ports }: UsecaseDeps): PriceUsecases {
  return {
    async list(caller, key, model) {
      await requireAccess(ports, caller, { verb: 'get', kind: 'Provider', ...key })
      const provider = await ports.resources.get('Provider', key)
      if (provider === undefined) throw await explainAbsent('provider', key)
      return model === undefined ? listAll(provider) : listApplied(provider, model)
    },
  }
}
