// Which provider and model answer a turn: from the request, the agent, the session, `--chat-provider` or the namespace.
import type { ChatRequest } from '../../contract/api/chat/chat.ts'
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { LookupCaches } from '../../lookup/cache.ts'
import { lookUpDefault, requireDefault, resolveModels } from '../../lookup/models.ts'
import type { RememberedModel } from '../../ports/chat/sessions.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import type { DefaultProvider, ProviderWish } from '../../rules/providers/model-choice.ts'
import { requireAccess } from '../identity/access.ts'
import { keepChoices } from '../providers/models.ts'
import { notFound } from '../resources/listing.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import type { ChatSettings } from './settings.ts'

type Wanted = Pick<ChatRequest, 'provider' | 'model' | 'agentRef'>

export type ChosenModels = { choices: [ModelChoice, ...ModelChoice[]]; agent: Agent | undefined }

export type ModelQuestion = {
  caller: Caller
  namespace: string
  request: Wanted
  settings: ChatSettings
  /** What answered the session's last turn; absent when there was none. */
  remembered: RememberedModel | undefined
}

type Choices = ChosenModels['choices']

export type ModelChooser = {
  /** InvalidRequest in one sentence when the agent, provider, key or model is missing; Forbidden. */
  choose(question: ModelQuestion): Promise<ChosenModels>
}

/** Choices and their keys are cached until a provider or a secret changes; rights are checked each time. */
export function createModelChooser({ ports }: Pick<UsecaseDeps, 'ports'>, caches: LookupCaches): ModelChooser {
  const cache = caches.createCache<Choices>()
  const defaults = caches.createCache<DefaultProvider>()
  const lookUp: LookUp = {
    resolve: (wishes) =>
      cache.get(JSON.stringify(wishes), {
        load: () => resolveModels({ resources: ports.resources, secrets: ports.secrets }, wishes),
      }),
    findDefault: (namespace, preferred) =>
      defaults.get(`${namespace}\n${preferred.join()}`, {
        namespace,
        load: () => lookUpDefault(ports.resources, namespace, preferred),
      }),
  }
  return { choose: (question) => chooseChatModels(ports, question, lookUp) }
}

type Wishes = [ProviderWish, ...ProviderWish[]]

type LookUp = {
  resolve(wishes: Wishes): Promise<Choices>
  findDefault(namespace: string, preferred: string[]): Promise<DefaultProvider>
}

async function chooseChatModels(
  ports: UsecaseDeps['ports'],
  question: ModelQuestion,
  { resolve, findDefault }: LookUp,
): Promise<ChosenModels> {
  try {
    const agent = await findAgent(ports, question)
    const primary =
      findRequested(question, agent) ??
      (await findRemembered(ports, question, { agent, find: findDefault })) ??
      (await findUnnamed(question, findDefault))
    const { caller } = question
    await requireAccess(ports, caller, {
      verb: 'get',
      kind: 'Provider',
      namespace: primary.namespace,
      name: primary.name,
    })
    const model = primary.model ?? (await pickModel(ports, question, { agent, primary }))
    const choices = await resolve([{ ...primary, model }, ...listFallbacks(agent)])
    return { choices: await keepChoices(ports, caller, choices), agent }
  } catch (error) {
    if (!isSvcError(error, 'NotFound') && !isSvcError(error, 'InvalidRequest')) throw error
    throw new SvcError('InvalidRequest', `failed to resolve provider: ${error.message}`, { cause: error })
  }
}

async function findAgent(
  ports: UsecaseDeps['ports'],
  { caller, namespace, request }: ModelQuestion,
): Promise<Agent | undefined> {
  if (request.agentRef === undefined) return undefined
  const key = { namespace, name: request.agentRef }
  await requireAccess(ports, caller, { verb: 'get', kind: 'Agent', ...key })
  const agent = await ports.resources.get('Agent', key)
  if (agent === undefined) throw await notFound(ports, caller, 'Agent', key)
  return agent
}

function findRequested({ namespace, request }: ModelQuestion, agent: Agent | undefined): ProviderWish | undefined {
  if (request.provider !== undefined) return { namespace, name: request.provider, field: 'provider of the request' }
  const own = agent?.spec.providerRef
  if (own === undefined || agent === undefined) return undefined
  const field = `of agent "${agent.metadata.name}"`
  return { namespace: own.namespace ?? agent.metadata.namespace, name: own.name, field }
}

/** The session's provider and model, unless the provider was deleted; demo gives way once there is a language model. */
async function findRemembered(
  { resources }: UsecaseDeps['ports'],
  { namespace, request, remembered, settings }: ModelQuestion,
  { agent, find }: { agent: Agent | undefined; find: LookUp['findDefault'] },
): Promise<ProviderWish | undefined> {
  if (remembered === undefined) return undefined
  const { model, ...key } = remembered
  const provider = await resources.get('Provider', key)
  if (provider === undefined) return undefined
  const isDemo = provider.spec.type === 'demo'
  if (isDemo && (await find(namespace, preferredBy(settings))).outcome === 'chosen') return undefined
  return { ...key, field: 'of the session', model: request.model ?? agent?.spec.model?.name ?? model }
}

function preferredBy({ provider }: ChatSettings): string[] {
  return provider === '' ? [] : [provider]
}

async function findUnnamed({ namespace, settings }: ModelQuestion, find: LookUp['findDefault']): Promise<ProviderWish> {
  const { metadata } = requireDefault(await find(namespace, preferredBy(settings)), namespace)
  return { namespace, name: metadata.name, field: 'the default' }
}

/** request > agent > provider > --chat-model (reference 1.7). */
async function pickModel(
  { resources }: UsecaseDeps['ports'],
  { request, settings }: ModelQuestion,
  { agent, primary }: { agent: Agent | undefined; primary: ResourceKey },
): Promise<string | undefined> {
  const wanted = request.model ?? agent?.spec.model?.name
  if (wanted !== undefined || settings.model === '') return wanted
  const provider = await resources.get('Provider', primary)
  return provider?.spec.defaultModel ?? settings.model
}

function listFallbacks(agent: Agent | undefined): ProviderWish[] {
  return (agent?.spec.model?.fallbacks ?? []).map(({ providerRef, model }) => ({
    namespace: providerRef.namespace ?? agent?.metadata.namespace ?? '',
    name: providerRef.name,
    field: 'model.fallbacks',
    model,
  }))
}
