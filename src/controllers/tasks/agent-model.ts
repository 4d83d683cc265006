// The model that an agent program calls through the proxies.
import { isDeepStrictEqual } from 'node:util'
import type { ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { readSecret } from '../../lookup/entries.ts'
import { resolveModels } from '../../lookup/models.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import { isMadeFor, makeAgentProvider, splitModel } from '../../rules/agents/provider.ts'
import { listProviderWishes, type ProviderWish } from '../../rules/providers/model-choice.ts'

type ModelDeps = { resources: Resources; secrets: Secrets }

/** NotFound when provider or key do not exist (yet), InvalidRequest when there is no model; sentences. */
export async function resolveAgentModel(deps: ModelDeps, task: Task, agent: Agent): Promise<ModelChoice> {
  const [first] = await resolveModels(deps, [await findProvider(deps, task, agent)])
  if (first.provider.type !== 'demo') return first
  throw new SvcError(
    'InvalidRequest',
    'the demo provider is no language model; name another in providerRef of the agent',
  )
}

async function findProvider(deps: ModelDeps, task: Task, agent: Agent): Promise<ProviderWish> {
  const { namespace } = agent.metadata
  const [wish] = listProviderWishes(task, agent)
  if (agent.spec.providerRef !== undefined) return wish
  const name = agent.spec.model?.name
  const named = splitModel(name)
  if (named !== undefined && (await deps.resources.get('Provider', { namespace, name: named.provider }))) {
    return { namespace, name: named.provider, model: named.model, field: 'model.name' }
  }
  const made = await makeProvider(deps, agent)
  if (made !== undefined) return { namespace, name: made, model: name, field: 'secretRef' }
  return wish
}

/** The name of the Provider that the keys of the agent's Secret make. It is deleted with the agent. */
async function makeProvider({ resources, secrets }: ModelDeps, agent: Agent): Promise<string | undefined> {
  const { namespace, name: owner } = agent.metadata
  if (agent.spec.secretRef === undefined) return undefined
  const key = { namespace, name: agent.spec.secretRef.name }
  const { values } = await readSecret(secrets, key, { owner: `agent "${owner}"` })
  const draft = makeAgentProvider(agent, values)
  if (draft === undefined) return undefined
  const { name } = draft.metadata
  const found = await resources.get('Provider', { namespace, name })
  if (found === undefined) {
    await resources.create('Provider', draft).catch((error: unknown) => {
      if (!isSvcError(error, 'Conflict')) throw error
    })
    return name
  }
  if (!isMadeFor(found, agent)) {
    throw new SvcError('InvalidRequest', `provider "${name}" is not that of agent "${owner}"; rename one of the two`)
  }
  const spec = { ...found.spec, ...draft.spec }
  if (!isDeepStrictEqual(spec, found.spec)) await resources.update('Provider', { ...found, spec })
  return name
}
