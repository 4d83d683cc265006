// Which provider and model answer a turn: agent before request before flags before the Provider named `default`.
import type { CatalogMemory } from '../../catalog/memory.ts'
import { resolveModels } from '../../catalog/models.ts'
import type { ModelChoice } from '../../contract/api/assignment.ts'
import type { ChatRequest } from '../../contract/api/chat.ts'
import type { Agent } from '../../contract/resources/agent.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity.ts'
import type { ResourceKey } from '../../ports/resources.ts'
import { defaultProviderName, type ProviderWish } from '../../rules/model-choice.ts'
import { requireAccess } from '../access.ts'
import type { UsecaseDeps } from '../deps.ts'
import { keepChoices } from '../providers/rights.ts'
import { notFound } from '../resources.ts'
import type { ChatSettings } from './settings.ts'

type Wanted = Pick<ChatRequest, 'provider' | 'model' | 'agentRef'>

export type ChosenModels = { choices: [ModelChoice, ...ModelChoice[]]; agent: Agent | undefined }

export type ModelQuestion = { caller: Caller; namespace: string; request: Wanted; settings: ChatSettings }

type Choices = ChosenModels['choices']

export type ModelChooser = {
  /** InvalidRequest in one sentence when agent, provider, key or model is missing; Forbidden. */
  choose(question: ModelQuestion): Promise<ChosenModels>
}

/** Choices and their keys are kept until a provider or a secret changes; rights are asked for each time. */
export function createModelChooser({ ports }: Pick<UsecaseDeps, 'ports'>, memory: CatalogMemory): ModelChooser {
  const shelf = memory.createShelf<Choices>()
  const resolve = (wishes: Wishes) =>
    shelf.get(JSON.stringify(wishes), {
      load: () => resolveModels({ resources: ports.resources, secrets: ports.secrets }, wishes),
    })
  return { choose: (question) => chooseChatModels(ports, question, resolve) }
}

type Wishes = [ProviderWish, ...ProviderWish[]]

async function chooseChatModels(
  ports: UsecaseDeps['ports'],
  question: ModelQuestion,
  resolve: (wishes: Wishes) => Promise<Choices>,
): Promise<ChosenModels> {
  try {
    const agent = await findAgent(ports, question)
    const primary = findPrimary(question, agent)
    const { caller } = question
    await requireAccess(ports, caller, {
      verb: 'get',
      kind: 'Provider',
      namespace: primary.namespace,
      name: primary.name,
    })
    const model = await pickModel(ports, question, { agent, primary })
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
  if (agent === undefined) throw notFound('Agent', key)
  return agent
}

function findPrimary({ namespace, request, settings }: ModelQuestion, agent: Agent | undefined): ProviderWish {
  const own = agent?.spec.providerRef
  if (own !== undefined && agent !== undefined) {
    const field = `of agent "${agent.metadata.name}"`
    return { namespace: own.namespace ?? agent.metadata.namespace, name: own.name, field }
  }
  if (request.provider !== undefined) return { namespace, name: request.provider, field: 'provider of the request' }
  if (settings.provider !== '') return { namespace, name: settings.provider, field: '--chat-provider' }
  return { namespace, name: defaultProviderName, field: 'used when none is named' }
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
