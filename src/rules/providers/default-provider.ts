// Which provider answers when none is named: one rule for tasks, chat, both proxies and the command line.
import type { Provider } from '../../contract/kinds/providers/provider.ts'

/** Name of the provider that a namespace uses when none is named. */
export const defaultProviderName = 'default'

export type DefaultProvider =
  | { outcome: 'chosen'; provider: Provider }
  /** The namespace has no candidate; the demo provider, which is not a language model, must be named (PROV-014). */
  | { outcome: 'none' }
  /** Several qualify: somebody has to choose one of these names. */
  | { outcome: 'several'; names: string[] }

/** Whether it is complete and has its key. A provider that fails, cools down or cannot be reached still counts. */
function isUsable({ spec, status }: Pick<Provider, 'spec' | 'status'>): boolean {
  if (spec.type === 'demo') return false
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready?.status !== 'False' || ready.reason !== 'ValidationFailed'
}

/**
 * From the providers of one namespace: the first of the `preferred` names that exists, else the one named `default`,
 * else the one that is marked as such, else the only usable one. A single provider answers even when it is not usable, so
 * that the user sees its own error.
 */
export function chooseDefault(providers: readonly Provider[], preferred: readonly string[] = []): DefaultProvider {
  for (const name of [...preferred, defaultProviderName]) {
    const provider = providers.find(({ metadata }) => metadata.name === name)
    if (provider !== undefined) return { outcome: 'chosen', provider }
  }
  const real = providers.filter(({ spec }) => spec.type !== 'demo')
  const marked = real.filter(({ spec }) => spec.default === true)
  const usable = real.filter(isUsable)
  const candidates = [marked, usable].find(({ length }) => length > 0) ?? real
  const [only, ...others] = candidates
  if (only === undefined) return { outcome: 'none' }
  if (others.length === 0) return { outcome: 'chosen', provider: only }
  return { outcome: 'several', names: candidates.map(({ metadata }) => metadata.name) }
}

/** Tells the user what to do, in one sentence. */
export function explainNoDefault(found: Exclude<DefaultProvider, { outcome: 'chosen' }>, namespace: string): string {
  if (found.outcome === 'none') {
    return `no provider is named and namespace "${namespace}" has none called "${defaultProviderName}"; create it or name another`
  }
  const names = found.names.map((name) => `"${name}"`).join(', ')
  return `namespace "${namespace}" has several providers (${names}), none of them called "${defaultProviderName}": name one, with --provider ${found.names[0]} on the command line, or mark one with spec.default`
}
