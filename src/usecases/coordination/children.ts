// What a coordinator does with the tasks and agents that it has made: wait for them, cancel and remove them.
import type {
  CancelChild,
  ChildResult,
  CreateHelper,
  Delegated,
  DeleteHelper,
  WaitAnswer,
  WaitForTasks,
} from '../../contract/api/coordination/coordination.ts'
import { createBodyOf } from '../../contract/api/resources/resource-body.ts'
import type { Agent, AgentSpec } from '../../contract/kinds/agents/agent.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { parseOrThrow } from '../../contract/schema/validation.ts'
import { parseDuration } from '../../contract/values/duration.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import { describeChild, describeStranger } from '../../rules/coordination/children.ts'
import {
  type Coordinator,
  delegationKeys,
  findHelperProblem,
  isMadeBy,
  makeHelperSpec,
} from '../../rules/coordination/delegation.ts'
import { markCancelled } from '../../rules/tasks/decision.ts'
import { makeOwner } from '../../rules/tasks/schedule.ts'
import { isChildOf } from '../../rules/tasks/stamp.ts'
import { requirePossible } from '../resources/admission/admission.ts'
import { repeatOnConflict } from '../resources/write-conflict.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireRunningTask, type TaskPath } from '../tasks/worker/live-attempt.ts'
import { requireCoordinator, requireHome } from './coordinator.ts'
import { explainProblems } from './orchestration/tasks.ts'

type Named = { name: string; status: string }

/** Every call throws Forbidden for a task other than the token's own, and for an attempt that is not the live one. */
export type ChildrenUsecases = {
  /** Answers at once. `until`: when the wait of this call ends, as it was said the first time. */
  waitFor(
    identity: WorkerIdentity,
    path: TaskPath,
    request: { call: string; until?: string | undefined; args: WaitForTasks },
  ): Promise<WaitAnswer>
  /** NotFound for a task that is no child. */
  cancelChild(identity: WorkerIdentity, path: TaskPath, args: CancelChild): Promise<Delegated>
  /** Forbidden for more than the coordinator has itself; AlreadyExists. */
  createHelper(identity: WorkerIdentity, path: TaskPath, args: CreateHelper): Promise<Named>
  /** NotFound for an agent that it did not make. */
  deleteHelper(identity: WorkerIdentity, path: TaskPath, args: DeleteHelper): Promise<Named>
}

const maxResultBytes = 1024 * 1024
const shownArtifacts = 100
const resultsAtOnce = 8

type Found = { name: string; task: Task | undefined }

export function createChildrenUsecases(deps: UsecaseDeps): ChildrenUsecases {
  const { resources, records, clock } = deps.ports

  async function findChild(parent: Task, name: string): Promise<Task | undefined> {
    const task = await resources.get('Task', { namespace: parent.metadata.namespace, name })
    return task !== undefined && isChildOf(task, parent.metadata) ? task : undefined
  }

  async function describe({ name, task }: Found): Promise<ChildResult> {
    if (task === undefined) return describeStranger(name)
    if (!isTerminalPhase(task.status?.phase)) return describeChild(task, undefined, [])
    const which = { taskUid: task.metadata.uid }
    const [text, artifacts] = await Promise.all([
      readResultText(records.results, which, maxResultBytes),
      records.artifacts.list(task.metadata.uid),
    ])
    const names = artifacts.slice(0, shownArtifacts).map(({ filename }) => filename)
    return describeChild(task, text, names)
  }

  async function describeAll(found: readonly Found[]): Promise<ChildResult[]> {
    const results: ChildResult[] = []
    for (let start = 0; start < found.length; start += resultsAtOnce) {
      results.push(...(await Promise.all(found.slice(start, start + resultsAtOnce).map(describe))))
    }
    return results
  }

  async function cancel(parent: Task, { task_name: name, reason }: CancelChild): Promise<Delegated> {
    const task = await findChild(parent, name)
    if (task === undefined) throw new SvcError('NotFound', `"${name}" is no task of yours`)
    const phase = task.status?.phase
    if (isTerminalPhase(phase)) return { taskName: name, status: `task is already in ${phase} phase, cannot cancel` }
    await resources.update('Task', markCancelled(task, reason ?? `cancelled by ${parent.metadata.name}`))
    return { taskName: name, status: 'cancelled' }
  }

  async function findHelper(coordinator: Coordinator, name: string): Promise<Agent | undefined> {
    const agent = await resources.get('Agent', { namespace: coordinator.task.metadata.namespace, name })
    return agent !== undefined && isMadeBy(agent, coordinator.task) ? agent : undefined
  }

  return {
    async waitFor(identity, path, { call, until, args }) {
      const parent = await requireRunningTask(resources, identity, path)
      const found = await Promise.all(
        args.tasks.map(async (name): Promise<Found> => ({ name, task: await findChild(parent, name) })),
      )
      const open = new Map<string, string>()
      for (const { name, task } of found) {
        if (task !== undefined && !isTerminalPhase(task.status?.phase)) open.set(task.metadata.uid, name)
      }
      const now = clock.now().getTime()
      const end = until ?? new Date(now + parseDuration(args.timeout)).toISOString()
      const tasks = [...open].map(([uid, name]) => ({ uid, name }))
      if (tasks.length > 0 && now < Date.parse(end)) {
        return { completed: false, results: [], wait: { kind: 'tasks', call, tasks, until: end } }
      }
      return { completed: tasks.length === 0, results: await describeAll(found) }
    },

    async cancelChild(identity, path, args) {
      const parent = await requireRunningTask(resources, identity, path)
      return repeatOnConflict(() => cancel(parent, args))
    },

    async createHelper(identity, path, args) {
      const coordinator = await requireCoordinator(deps, identity, path)
      const problem = findHelperProblem(coordinator, args)
      if (problem !== undefined) throw new SvcError('Forbidden', problem)
      const { name } = args
      try {
        const body = parseOrThrow(createBodyOf('Agent'), { name, spec: makeHelperSpec(coordinator, args) }, 'agent')
        const spec = body.spec as AgentSpec
        requirePossible('Agent', spec, deps.settings)
        const { uid, namespace } = coordinator.task.metadata
        const labels = { [delegationKeys.createdBy]: 'create_agent', [delegationKeys.createdByTask]: uid }
        const owner = { ...makeOwner(coordinator.task), controller: false, blockOwnerDeletion: false }
        await resources.create('Agent', { metadata: { namespace, name, labels, ownerReferences: [owner] }, spec })
      } catch (error) {
        // The same call made it before, perhaps in an earlier attempt.
        if (!isSvcError(error, 'AlreadyExists') || (await findHelper(coordinator, name)) === undefined) {
          throw explainProblems(error)
        }
      }
      return { name, status: 'created' }
    },

    async deleteHelper(identity, path, { name, namespace }) {
      const coordinator = await requireCoordinator(deps, identity, path)
      requireHome(coordinator, namespace)
      const agent = await findHelper(coordinator, name)
      if (agent === undefined) throw new SvcError('NotFound', `"${name}" is no agent that this task has made`)
      await resources.remove('Agent', agent.metadata, { uid: agent.metadata.uid })
      return { name, status: 'deleted' }
    },
  }
}
