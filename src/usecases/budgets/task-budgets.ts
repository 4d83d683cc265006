// Budgets of single tasks: what a task and all tasks that it created have used, read from the records before each model
// call. Only tasks with such a budget among their ancestors pay for the reads.
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { listAncestors } from '../../lookup/lineage.ts'
import type { Ports } from '../../ports/index.ts'
import { countsSpending, explainSpent, leftOf, type TaskLeft, type TaskSpent } from '../../rules/budgets/task-budget.ts'

export type TaskBudgetChecks = {
  /** BudgetExceeded when the budget of the task, or of a task that it descends from, is used up. */
  require(task: Task): Promise<void>
  /** What the task has used counts for those that it descends from, however lately these were looked at. */
  note(task: Task): Promise<void>
  /** What is left of the task's own budget; undefined without one. */
  left(task: Task): Promise<TaskLeft | undefined>
}

/** How long a family is taken as it was found; a task that asks always counts. */
const familyForMs = 2000
/** Families that nobody asked for in this time are forgotten. */
const rememberedMs = 3_600_000

type Family = { uids: Set<string>; foundAt: number; requestedAt: number }

export function createTaskBudgets({
  resources,
  records,
  clock,
}: Pick<Ports, 'resources' | 'records' | 'clock'>): TaskBudgetChecks {
  const families = new Map<string, Family>()

  /** The task, its parent, and so on. */
  async function listLine(task: Task): Promise<Task[]> {
    const ancestors = await listAncestors(resources, task)
    return [task, ...ancestors.flatMap((one) => one ?? [])]
  }

  async function addDescendants(task: Task, uids: Set<string>): Promise<void> {
    const { namespace, uid } = task.metadata
    const { items } = await resources.list('Task', { namespace, fields: { owner: uid } })
    for (const child of items) {
      uids.add(child.metadata.uid)
      // A task that has created others says so in its status.
      if (child.status?.childTasks !== undefined) await addDescendants(child, uids)
    }
  }

  function forgetOld(now: number): void {
    for (const [uid, { requestedAt }] of families) if (now - requestedAt > rememberedMs) families.delete(uid)
  }

  /** Uids of the task and of its descendants; those that were deleted meanwhile stay, for their usage stays too. */
  async function findFamily(task: Task): Promise<Family> {
    const { uid } = task.metadata
    const now = clock.now().getTime()
    const family = families.get(uid) ?? { uids: new Set([uid]), foundAt: Number.NEGATIVE_INFINITY, requestedAt: now }
    family.requestedAt = now
    if (now - family.foundAt > familyForMs) {
      forgetOld(now)
      await addDescendants(task, family.uids)
      family.foundAt = now
    }
    families.set(uid, family)
    return family
  }

  async function readSpent(task: Task, asking: readonly Task[]): Promise<TaskSpent> {
    const { uids } = await findFamily(task)
    for (const { metadata } of asking) uids.add(metadata.uid)
    const { tokens, costs } = await records.usage.spent({ taskUids: [...uids] }, {})
    return { tokens, cost: costs[task.spec.budget?.currency ?? ''] ?? 0 }
  }

  return {
    async require(task) {
      const line = await listLine(task)
      for (const [level, one] of line.entries()) {
        if (!countsSpending(one)) continue
        const problem = explainSpent(one, await readSpent(one, line.slice(0, level)))
        if (problem !== undefined) throw new SvcError('BudgetExceeded', problem)
      }
    },
    async note(task) {
      const [, ...ancestors] = await listLine(task)
      for (const { metadata } of ancestors) families.get(metadata.uid)?.uids.add(task.metadata.uid)
    },
    async left(task) {
      if (task.spec.budget === undefined) return undefined
      const spent = countsSpending(task) ? await readSpent(task, []) : { tokens: 0, cost: 0 }
      return leftOf(task, spent, clock.now())
    },
  }
}
