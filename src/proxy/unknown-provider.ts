// A model whose first part is not the name of a provider: a misspelt provider, unless the default provider has a model of
// that whole name. A request never goes to a vendor that it does not name (ADR 68).
import type { Provider } from '../contract/kinds/providers/provider.ts'
import { SvcError } from '../errors.ts'
import type { ResourceReader } from '../ports/resources/resources.ts'
import { findSpelling, splitModel } from '../rules/agents/provider.ts'
import type { OfferedModels } from './models.ts'

const maxNames = 20

function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'there is none'
  const rest = names.length - maxNames
  const shown = names.slice(0, maxNames).map((name) => `"${name}"`)
  return `there are ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** NotFound with the names there are. `standIn`: the default provider, which has no model of that name either. */
export async function refuseUnknownProvider(
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
export async function hasModel(offered: OfferedModels, provider: Provider, model: string): Promise<boolean> {
  return model === provider.spec.defaultModel || offered.lists(provider, model)
}
