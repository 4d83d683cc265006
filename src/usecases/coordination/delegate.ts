// Makes the children of a coordinator: what it may, and with nothing that it does not have itself.
import {
  type DelegateContainer,
  type Delegated,
  type DelegatedWorkspace,
  type DelegateTask,
  defaultRetries,
} from '../../contract/api/coordination/coordination.ts'
import { normalizeTaskBody } from '../../contract/api/tasks/task-body.ts'
import type { Agent } from '../../contract/kinds/agents/agent.ts'
import type { Task, TaskSpec } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import { createChild } from '../../lookup/child-task.ts'
import { findLineage } from '../../lookup/lineage.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import { budgetSubjectOf } from '../../rules/budgets/budget.ts'
import {
  type Coordinator,
  delegationKeys,
  draftChild,
  findDepthProblem,
  findHelperAgentProblem,
  findSecretProblem,
  nameChild,
  taskFamilyOf,
} from '../../rules/coordination/delegation.ts'
import { allowsChildTask } from '../../rules/identity/context-token.ts'
import { isChildOf } from '../../rules/tasks/stamp.ts'
import { defaultNetworkSettings, findUnreached } from '../../rules/workspaces/network.ts'
import { requirePossible } from '../resources/admission/admission.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import type { TaskPath } from '../tasks/worker/live-attempt.ts'
import { requireCoordinator, requireHome } from './coordinator.ts'
import { explainProblems } from './orchestration/tasks.ts'

export type DelegationUsecases = {
  /**
   * Forbidden for an agent that may not be used and beyond the depth or size of a family, InvalidRequest for a task that
   * cannot run, BudgetExceeded. The same call makes one task.
   */
  delegate(identity: WorkerIdentity, path: TaskPath, request: Calling<DelegateTask>): Promise<Delegated>
  runContainer(identity: WorkerIdentity, path: TaskPath, request: Calling<DelegateContainer>): Promise<Delegated>
}

/** Tasks below one first coordinator, all levels together. */
const maxFamilySize = 1000

/** One call of a run, and the step of its trace that it is. */
type Calling<A> = { call: string; step?: string | undefined; args: A }

type NewChild = Calling<unknown> & { agentName?: string; spec: Record<string, unknown> }

function toWorkspace(workspace: DelegatedWorkspace): Record<string, unknown> | undefined {
  if (workspace === undefined) return undefined
  const { gitSecretRef, ...rest } = workspace
  return { ...rest, ...(gitSecretRef !== undefined && { gitSecretRef: { name: gitSecretRef } }) }
}

function buildPrompt({ prompt, feedback, prior_task: prior }: DelegateTask): string {
  if (feedback === undefined) return prompt
  const about = prior === undefined ? 'an earlier attempt' : `task ${prior}`
  return `Feedback on ${about}:\n${feedback}\n\n${prompt}`
}

function buildSpec(args: DelegateTask, agent: Agent | undefined): Record<string, unknown> {
  const prompt = buildPrompt(args)
  const { namespace, name } = { namespace: args.agentNamespace, name: args.agent }
  const agentRef = dropUndefined({ name, namespace })
  // Its coordinator waits.
  const retries = { maxRetries: args.max_retries ?? defaultRetries, initialDelay: '2s' }
  const common = dropUndefined({
    agentRef,
    timeout: args.timeout,
    priority: args.priority,
    retryPolicy: args.auto_retry === true ? retries : undefined,
  })
  const workspace = toWorkspace(args.workspace)
  if (agent?.spec.runtime === undefined)
    return { type: 'ai', ai: { prompt }, ...common, ...dropUndefined({ workspace }) }
  const agentRuntime = dropUndefined({ maxTurns: args.maxTurns, allowBash: args.allowBash, workspace })
  return { type: 'agent', prompt, agentRuntime, ...common }
}

export function createDelegation(deps: UsecaseDeps): DelegationUsecases {
  const { resources } = deps.ports

  async function countFamily(task: Task): Promise<number> {
    const labelSelector = `${delegationKeys.family}=${taskFamilyOf(task)}`
    const { items } = await resources.list('Task', { namespace: task.metadata.namespace, labelSelector })
    return items.length
  }

  async function findPrior({ task }: Coordinator, name: string | undefined): Promise<Task | undefined> {
    if (name === undefined) return undefined
    const prior = await resources.get('Task', { namespace: task.metadata.namespace, name })
    if (prior !== undefined && isChildOf(prior, task.metadata)) return prior
    throw new SvcError('NotFound', `prior_task "${name}" is no task of yours`)
  }

  function requireContext({ task }: Coordinator, spec: TaskSpec): void {
    const context = task.spec.transaction?.context
    if (context === undefined) return
    const { gitRepo: repo, branch, ref } = spec.workspace ?? spec.agentRuntime?.workspace ?? {}
    const { agentRef } = spec
    const agent = agentRef && { name: agentRef.name, namespace: agentRef.namespace ?? task.metadata.namespace }
    const workspaces = repo === undefined ? [] : [{ repo, branch, ref }]
    if (allowsChildTask({ type: spec.type, agent, workspaces }, context, deps.settings.contextMode ?? 'off')) return
    throw new SvcError('Forbidden', 'the context token that asked for this task does not allow such a task')
  }

  /** The service fetches it and pushes to it for the child, who may say where. */
  async function requireReach({ task }: Coordinator, spec: TaskSpec): Promise<void> {
    const { network = defaultNetworkSettings } = deps.settings
    const [host] = findUnreached(await findLineage(resources, task), { spec }, network)
    if (host === undefined) return
    throw new SvcError('Forbidden', `the network of this task does not have ${host}, so it can give nobody work there`)
  }

  async function make(coordinator: Coordinator, { call, step, args, agentName, spec }: NewChild): Promise<Delegated> {
    const { task } = coordinator
    const name = nameChild(task, call, args)
    const known = await resources.get('Task', { namespace: task.metadata.namespace, name })
    if (known !== undefined && isChildOf(known, task.metadata)) return { taskName: name, status: 'created' }
    const problem = findDepthProblem(coordinator, { familySize: await countFamily(task), maxFamilySize })
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
    const body = normalizeTaskBody({ metadata: { name }, spec: { priority: task.spec.priority, ...spec } })
    requirePossible('Task', body.spec, deps.settings)
    requireContext(coordinator, body.spec)
    await requireReach(coordinator, body.spec)
    const draft = draftChild(coordinator, { name, agentName, step, spec: body.spec })
    await deps.ledger.require(budgetSubjectOf({ metadata: { ...draft.metadata, uid: '' } as never, spec: draft.spec }))
    const made = await createChild({ ...deps.ports, settings: deps.settings }, task, draft)
    if (!made.made) throw new SvcError('Forbidden', made.message)
    return { taskName: name, status: 'created' }
  }

  async function makeExplained(coordinator: Coordinator, child: NewChild): Promise<Delegated> {
    try {
      return await make(coordinator, child)
    } catch (error) {
      // Made in the meantime by the same call.
      if (isSvcError(error, 'AlreadyExists')) return make(coordinator, child)
      throw explainProblems(error)
    }
  }

  function requireOwnSecret({ task }: Coordinator, workspace: DelegatedWorkspace): void {
    const problem = findSecretProblem(task, workspace)
    if (problem !== undefined) throw new SvcError('Forbidden', problem)
  }

  return {
    async delegate(identity, path, { args, ...calling }) {
      const coordinator = await requireCoordinator(deps, identity, path)
      requireHome(coordinator, args.namespace)
      requireOwnSecret(coordinator, args.workspace)
      const key = { namespace: args.agentNamespace ?? path.namespace, name: args.agent }
      const agent = await resources.get('Agent', key)
      const problem = findHelperAgentProblem(coordinator, key, agent)
      if (problem !== undefined) throw new SvcError('Forbidden', problem)
      const prior = await findPrior(coordinator, args.prior_task)
      const spec = { ...buildSpec(args, agent), ...continuePrior(prior, args.workspace) }
      return makeExplained(coordinator, { ...calling, args, agentName: args.agent, spec })
    },

    async runContainer(identity, path, { args, ...calling }) {
      const coordinator = await requireCoordinator(deps, identity, path)
      requireHome(coordinator, args.namespace)
      requireOwnSecret(coordinator, args.workspace)
      const prior = await findPrior(coordinator, args.prior_task)
      const env = Object.entries(args.env ?? {}).map(([name, value]) => ({ name, value }))
      const spec = dropUndefined({
        type: 'container',
        image: args.image,
        command: args.command,
        args: args.args,
        env: env.length > 0 ? env : undefined,
        workspace: toWorkspace(args.workspace),
        timeout: args.timeout,
        priority: args.priority,
        ...continuePrior(prior, args.workspace),
      })
      return makeExplained(coordinator, { ...calling, args, spec })
    },
  }
}

/** A prior task in a repository: the new one begins with its changes, in the same repository unless another is named. */
function continuePrior(prior: Task | undefined, workspace: DelegatedWorkspace): Record<string, unknown> {
  const earlier = prior?.spec.workspace ?? prior?.spec.agentRuntime?.workspace
  if (prior === undefined || earlier?.gitRepo === undefined) return {}
  const priorTaskRef = { name: prior.metadata.name }
  if (workspace !== undefined) return { priorTaskRef }
  const { pushBranch: _branch, ...same } = earlier
  return { priorTaskRef, workspace: same }
}
