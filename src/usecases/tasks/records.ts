// What a task leaves behind (result, artifacts, plan), for callers who may see the task.
import type { AgentMessage } from '../../contract/api/tasks/task-records.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type { ResourceKey, ResourceText } from '../../ports/resources/resources.ts'
import type { ArtifactInfo, Plan, Plans, ResultInfo, StoredPlan } from '../../ports/tasks/outputs.ts'
import type { NumberedPage, ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'

type Opened<I> = { info: I; open(): NodeJS.ReadableStream & AsyncIterable<Buffer> }

export type TaskRecords = {
  /** NotFound: no such task, or no result yet. */
  result(caller: Caller, key: ResourceKey): Promise<Opened<ResultInfo>>
  artifacts(caller: Caller, key: ResourceKey): Promise<ArtifactInfo[]>
  artifact(caller: Caller, key: ResourceKey, filename: string): Promise<Opened<ArtifactInfo>>
  /** NotFound without a plan; NotConfigured without a plan store (PLAN-011). */
  plan(caller: Caller, key: ResourceKey): Promise<Plan>
  /** Newest first; none for a task that saved no plan. NotConfigured without a plan store. */
  plans(caller: Caller, key: ResourceKey, page: NumberedPage): Promise<StoredPlan[]>
  /** Messages between the tasks below this one, newest first. */
  messages(caller: Caller, key: ResourceKey, page: NumberedPage): Promise<Omit<AgentMessage, 'read'>[]>
  /** The plan of a task that works in iterations, for GET /tasks/:id. */
  planOf(task: ResourceText): Promise<Plan | undefined>
}

// Quotes inside a JSON string are escaped, so only a real field of this name matches; most tasks have none.
const iterationField = /"iteration":[1-9]/

/** The parsed task, if it has started its first iteration. */
function parseIterating({ text }: ResourceText): Task | undefined {
  if (!iterationField.test(text)) return undefined
  const task: Task = JSON.parse(text)
  return (task.status?.iteration ?? 0) > 0 ? task : undefined
}

export function createTaskRecords({ ports }: UsecaseDeps, resources: ResourceUsecases): TaskRecords {
  const { records } = ports
  const getTask = (caller: Caller, key: ResourceKey) => resources.get(caller, 'Task', key)

  function requirePlans(): Plans {
    if (records.plans === undefined) throw new SvcError('NotConfigured', 'plan store not configured')
    return records.plans
  }

  const findPlan = async (task: Task) => requirePlans().get(task.metadata.uid)

  return {
    async result(caller, key) {
      const task = await getTask(caller, key)
      if (task.status?.resultRef?.available !== true) throw new SvcError('NotFound', 'task has no result')
      const found = await records.results.get(task.metadata.uid)
      if (found === undefined) throw new SvcError('NotFound', 'result not found')
      return found
    },
    async artifacts(caller, key) {
      return records.artifacts.list((await getTask(caller, key)).metadata.uid)
    },
    async artifact(caller, key, filename) {
      const found = await records.artifacts.open((await getTask(caller, key)).metadata.uid, filename)
      if (found === undefined) throw new SvcError('NotFound', `task "${key.name}" has no artifact "${filename}"`)
      return found
    },
    async plan(caller, key) {
      const plan = await findPlan(await getTask(caller, key))
      if (plan === undefined) throw new SvcError('NotFound', 'no plan found for this task')
      return plan
    },
    async plans(caller, key, page) {
      return requirePlans().history((await getTask(caller, key)).metadata.uid, page)
    },
    async messages(caller, key, page) {
      return records.messages.sentBelow((await getTask(caller, key)).metadata.uid, page)
    },
    async planOf(task) {
      const iterating = records.plans === undefined ? undefined : parseIterating(task)
      return iterating && findPlan(iterating)
    },
  }
}
