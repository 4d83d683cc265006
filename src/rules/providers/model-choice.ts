// Which provider and model an ai task uses: task before agent before provider, then the fallbacks.
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Provider } from '../../contract/kinds/providers/provider.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'

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
 * From the providers of one namespace: the first of the `preferred` names that exists, else the one that is marked as the
 * default, else the one of that name, else the only usable one. A single provider answers even when it is not usable, so
 * that the user sees its own error.
 */
export function chooseDefault(providers: readonly Provider[], preferred: readonly string[] = []): DefaultProvider {
  const findNamed = (name: string) => providers.find(({ metadata }) => metadata.name === name)
  const wanted = preferred.map(findNamed).find((provider) => provider !== undefined)
  if (wanted !== undefined) return { outcome: 'chosen', provider: wanted }
  const real = providers.filter(({ spec }) => spec.type !== 'demo')
  const marked = real.filter(({ spec }) => spec.default === true)
  const named = findNamed(defaultProviderName)
  if (marked.length === 0 && named !== undefined) return { outcome: 'chosen', provider: named }
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
  return `namespace "${namespace}" has several providers (${names}), and not one of them is the default: name one, with --provider ${found.names[0]} on the command line, or mark one with spec.default`
}

type NamedKey = { namespace: string; name: string }

/** The demo provider is not a language model; it needs some word as the model name (PROV-014). */
const demoModel = 'demo'

export type ProviderWish = NamedKey & {
  /** The field that names the provider, for messages; empty when none does and the namespace's default answers. */
  field: string
  model?: string | undefined
}

/** The providers that a task may use, in order of preference. */
export function listProviderWishes(task: Task, agent: Agent | undefined): [ProviderWish, ...ProviderWish[]] {
  const model = task.spec.ai?.model ?? agent?.spec.model?.name
  const home = agent?.metadata.namespace ?? task.metadata.namespace
  const fallbacks = (agent?.spec.model?.fallbacks ?? []).map((fallback) => ({
    namespace: fallback.providerRef.namespace ?? home,
    name: fallback.providerRef.name,
    field: 'model.fallbacks',
    model: fallback.model,
  }))
  return [{ ...findPrimary(task, agent), model }, ...fallbacks]
}

function findPrimary(task: Task, agent: Agent | undefined): ProviderWish {
  const { namespace } = task.metadata
  const own = task.spec.ai?.providerRef
  if (own !== undefined) return { namespace: own.namespace ?? namespace, name: own.name, field: 'spec.ai.providerRef' }
  const agents = agent?.spec.providerRef
  if (agents !== undefined && agent !== undefined) {
    const field = `spec.providerRef of agent "${agent.metadata.name}"`
    return { namespace: agents.namespace ?? agent.metadata.namespace, name: agents.name, field }
  }
  return { namespace, name: defaultProviderName, field: '' }
}

/** The requested providers; when only the first is requested, also the fallbacks that it names itself. */
export function expandWishes(
  wishes: [ProviderWish, ...ProviderWish[]],
  provider: Provider | undefined,
): [ProviderWish, ...ProviderWish[]] {
  if (wishes.length > 1 || provider?.spec.fallbacks === undefined) return wishes
  const { namespace } = provider.metadata
  const others = provider.spec.fallbacks.map(({ providerRef, model }) => ({
    namespace: providerRef.namespace ?? namespace,
    name: providerRef.name,
    field: 'fallbacks',
    model,
  }))
  return [wishes[0], ...others]
}

export type ResolvedModel = { provider: Provider; model: string }

type ModelChoices =
  | { outcome: 'chosen'; choices: [ResolvedModel, ...ResolvedModel[]] }
  /** The preferred provider does not exist (yet). */
  | { outcome: 'missing'; message: string }
  | { outcome: 'invalid'; message: string }

function pickModel(provider: Provider, wanted: string | undefined): string | undefined {
  return wanted ?? provider.spec.defaultModel ?? (provider.spec.type === 'demo' ? demoModel : undefined)
}

function describeMissing({ namespace, name, field }: ProviderWish): string {
  const who = field === '' ? '' : ` (${field})`
  return `provider "${name}"${who} does not exist in namespace "${namespace}"; create it or name another`
}

/** The models to use, in order of preference. Leaves out fallbacks that do not exist or have no model. */
export function chooseModels(
  wishes: [ProviderWish, ...ProviderWish[]],
  find: (key: NamedKey) => Provider | undefined,
): ModelChoices {
  const [first, ...rest] = wishes
  const provider = find(first)
  if (provider === undefined) return { outcome: 'missing', message: describeMissing(first) }
  const model = pickModel(provider, first.model)
  if (model === undefined) {
    const advice = `set spec.ai.model, the agent's model.name or defaultModel of provider "${provider.metadata.name}"`
    return { outcome: 'invalid', message: `no model specified and no default model configured; ${advice}` }
  }
  const fallbacks = rest.flatMap((wish) => {
    const other = find(wish)
    const itsModel = other && pickModel(other, wish.model)
    return other && itsModel !== undefined ? [{ provider: other, model: itsModel }] : []
  })
  return { outcome: 'chosen', choices: [{ provider, model }, ...fallbacks] }
}

/** Upper limit of model calls: what the task or its agent asks for, but never more than the service allows. */
export function limitIterations(wanted: number | undefined, allowed: number): number {
  return Math.min(wanted ?? allowed, allowed)
}

/** The agent whose rate limit covers all its model calls; undefined when it has none. */
export function limitedAgentOf(agent: Agent | undefined) {
  const rateLimit = agent?.spec.rateLimit
  if (agent === undefined || rateLimit === undefined) return undefined
  const { namespace, name } = agent.metadata
  return { namespace, name, rateLimit }
}
