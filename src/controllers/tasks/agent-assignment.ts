// What the agent program of one attempt is given: limits, and a token for its one model.
import type { AssignedAgent } from '../../contract/api/tasks/assignment.ts'
import { dropUndefined } from '../../contract/schema/json.ts'
import { tryParseDuration } from '../../contract/values/duration.ts'
import { SvcError } from '../../errors.ts'
import { approvalsOf, limitsOf, nameOfProgram } from '../../rules/agents/agent-programs.ts'
import type { NewAttempt } from './references.ts'
import type { TaskControllerDeps } from './settings.ts'

/** For attempts without a time limit: a token ends with its attempt in any case. */
const longestLifeMs = 7 * 86_400_000
/** Its calls may still be under way when the time is up. */
const graceMs = 60_000

/** Undefined for a task of another type. */
export async function assignAgent(deps: TaskControllerDeps, attempt: NewAttempt): Promise<AssignedAgent | undefined> {
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
  { agentTokens, settings }: TaskControllerDeps,
  { task, attempt, startedAt }: NewAttempt,
  { provider, model }: NewAttempt['references']['models'][number],
): Promise<string> {
  if (agentTokens === undefined) throw new SvcError('InvalidRequest', 'agents cannot use the proxies of this service')
  const { namespace, name: taskName, uid: taskUid } = task.metadata
  const lifeMs = tryParseDuration(task.spec.timeout ?? '') ?? longestLifeMs
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
