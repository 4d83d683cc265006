// A model whose first part is not the name of a provider: a misspelt provider, unless the default provider has a model of
// that whole name. A request never goes to a vendor that it does not name (ADR 67).
import type { Provider } from '../contract/kinds/providers/provider.ts'
import { SvcError } from '../errors.ts'
import type { Ports } from '../ports/index.ts'
import { keepAllowed } from '../usecases/identity/access.ts'
import type { OfferedModels } from './models.ts'
import type { ProxyRequest } from './request.ts'

/** `provider/model`; a name that begins with a slash is a path, as local servers name their models. */
export function splitModel(name: string): { provider: string; model: string } | undefined {
  const slash = name.indexOf('/')
  return slash > 0 ? { provider: name.slice(0, slash), model: name.slice(slash + 1) } : undefined
}

/** Who may learn the names of providers is not known where it is found. */
export class UnknownProvider extends Error {
  readonly model: string
  /** The default provider, which has no model of that name either. */
  readonly standIn: string | undefined

  constructor(model: string, standIn: string | undefined) {
    super(`no provider is named by the model "${model}"`)
    this.model = model
    this.standIn = standIn
  }
}

/**
 * Throws UnknownProvider unless the default provider has a model of this whole name, by its settings or its vendor's list;
 * UpstreamFailed when that list cannot be had.
 */
export async function requireOwnModel(offered: OfferedModels, provider: Provider, model: string): Promise<void> {
  if (model === provider.spec.defaultModel || (await offered.lists(provider, model))) return
  throw new UnknownProvider(model, provider.metadata.name)
}

const maxNames = 20

function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'there is none that you may use'
  const rest = names.length - maxNames
  const shown = names.slice(0, maxNames).map((name) => `"${name}"`)
  return `there are ${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** NotFound, with the providers that the caller may use. */
export async function explainUnknownProvider(
  ports: Pick<Ports, 'resources' | 'authorizer'>,
  { caller, namespace }: Pick<ProxyRequest, 'caller' | 'namespace'>,
  error: UnknownProvider,
): Promise<SvcError> {
  const { items } = await ports.resources.list('Provider', { namespace })
  const read = (name: string) => ({ verb: 'use', kind: 'Provider', namespace, name }) as const
  const names = await keepAllowed(ports, caller, { of: items.map(({ metadata }) => metadata.name), read })
  const { model, standIn } = error
  const there = `there is no provider "${splitModel(model)?.provider}" in namespace "${namespace}"; ${listNames(names)}`
  const own = standIn && `; a model that "${standIn}" does not list is named "${standIn}/${model}"`
  return new SvcError('NotFound', `model: ${there}. A request names one as provider/model${own ?? ''}`, {
    cause: error,
  })
}
