// What the agent program of an attempt gets: one model, called through the proxies, the token that it calls it with, and limits.
import { isDeepStrictEqual } from 'node:util'
import type { AssignedAgent, ModelChoice } from '../../contract/api/tasks/assignment.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { readSecret } from '../../lookup/entries.ts'
import { resolveModels } from '../../lookup/models.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { Secrets } from '../../ports/resources/secrets.ts'
import { approvalsOf, limitsOf, nameOfProgram } from '../../rules/agents/programs.ts'
import { isMadeFor, makeAgentProvider, splitModel } from '../../rules/agents/provider.ts'
import { listProviderWishes, type ProviderWish } from '../../rules/providers/model-choice.ts'
import type { AttemptDeps } from './context.ts'
import type { NewAttempt } from './references.ts'

/** For attempts without a time limit: a token ends with its attempt in any case. */
const maxLifeMs = 7 * 86_400_000
/** Its calls may still be under way when the time is up. */
const graceMs = 60_000

/** Undefined for a task of another type. */
export async function assignAgent(deps: AttemptDeps, attempt: NewAttempt): Promise<AssignedAgent | undefined> {
  const { task, references } = attempt
  const runtime = references.agent?.spec.runtime
  const [choice] = references.models
  const name = runtime && nameOfProgram(runtime)
  if (task.spec.type !== 'agent' || runtime === undefined || name === undefined || choice === undefined)
    return undefined
  const program = deps.settings.agentPrograms[name]
  return dropUndefined({
    runtime: name,
    command: program?.found ? program.command : undefined,
    path: deps.settings.agentPath,
    model: `${choice.provider.name}/${choice.model}`,
    token: await mintToken(deps, attempt, choice),
    ...limitsOf(runtime, task.spec.agentRuntime),
    reasoningEffort: runtime.defaultReasoningEffort,
    approvalRequiredTools: references.agent && approvalsOf(references.agent.spec),
  })
}

function mintToken(
  { agentTokens, settings }: AttemptDeps,
  { task, attempt, startedAt }: NewAttempt,
  { provider, model }: NewAttempt['references']['models'][number],
): Promise<string> {
  if (agentTokens === undefined) throw new SvcError('InvalidRequest', 'agents cannot use the proxies of this service')
  const { namespace, name: taskName, uid: taskUid } = task.metadata
  const lifeMs = tryParseDuration(task.spec.timeout ?? '') ?? maxLifeMs
  return agentTokens.mint({
    namespace,
    taskName,
    taskUid,
    attempt,
    model,
    provider: { namespace: provider.namespace, name: provider.name },
    maxTokens: settings.agentTokens,
    expiresAt: new Date(startedAt.getTime() + lifeMs + graceMs).toISOString(),
  })
}

type ModelDeps = { resources: Resources; secrets: Secrets }

/** NotFound when provider or key do not exist (yet), InvalidRequest when there is no model; sentences. */
export async function resolveAgentModel(deps: ModelDeps, task: Task, agent: Agent): Promise<ModelChoice> {
  const [first] = await resolveModels(deps, [await findProvider(deps, task, agent)])
  if (first.provider.type !== 'demo') return first
  throw new SvcError(
    'InvalidRequest',
    'the demo provider is no language model; name another in model.name of the agent',
  )
}

async function findProvider(deps: ModelDeps, task: Task, agent: Agent): Promise<ProviderWish> {
  const { namespace } = agent.metadata
  const name = agent.spec.model?.name
  const named = splitModel(name)
  if (named !== undefined && (await deps.resources.get('Provider', { namespace, name: named.provider }))) {
    return { namespace, name: named.provider, model: named.model, field: 'model.name' }
  }
  const made = await makeProvider(deps, agent)
  if (made !== undefined) return { namespace, name: made, model: name, field: 'secretRef' }
  const [wish] = listProviderWishes(task, agent)
  return { ...wish, model: name }
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
