// The columns of task lists, and the tree of a coordination run as rows of a table.
import { formatMoney } from '../../client/money.ts'
import type { TreeNode } from '../../client/task-tree.ts'
import { isTerminalPhase, type Task, type TaskUsage } from '../../contract/kinds/tasks/task.ts'
import { formatDuration } from '../../contract/values/duration.ts'
import { type Column, formatAge, formatLabels } from './output.ts'

export const taskColumns = (now: Date): Column<Task>[] => [
  { title: 'NAMESPACE', wide: true, value: (task) => task.metadata.namespace },
  { title: 'NAME', value: (task) => task.metadata.name },
  { title: 'TYPE', value: (task) => task.spec.type },
  { title: 'PHASE', value: (task) => task.status?.phase ?? 'Pending' },
  { title: 'ATTEMPTS', value: (task) => task.status?.attempts ?? 0 },
  { title: 'AGENT', wide: true, value: (task) => task.spec.agentRef?.name },
  { title: 'PROVIDER', wide: true, value: (task) => task.spec.ai?.providerRef?.name },
  { title: 'MODEL', wide: true, value: (task) => task.spec.ai?.model },
  { title: 'SCHEDULE', wide: true, value: (task) => task.spec.schedule },
  { title: 'LABELS', wide: true, value: (task) => formatLabels(task.metadata.labels) },
  { title: 'AGE', value: (task) => formatAge(task.metadata.creationTimestamp, now) },
  { title: 'MESSAGE', value: (task) => task.status?.message },
]

export type TreeRow = Pick<TreeNode<Task>, 'task' | 'lead'>

/** What a task has used; of a task that runs the service sums it elsewhere. */
export type TaskSpending = Pick<TaskUsage, 'inputTokens' | 'outputTokens' | 'cost' | 'currency'>
export type FindUsed = (task: Task) => TaskSpending | undefined

export function haveAllEnded(rows: readonly TreeRow[]): boolean {
  return rows.every(({ task }) => isTerminalPhase(task.status?.phase))
}

function describePhase({ status }: Task): string {
  const { phase = 'Pending', iteration = 0 } = status ?? {}
  return iteration === 0 ? phase : `${phase} (iteration ${iteration + 1})`
}

/** From its first start to its end, or until now. */
function describeTime({ status }: Task, now: Date): string | undefined {
  const begin = status?.firstStartTime ?? status?.startTime
  if (begin === undefined) return undefined
  const end = isTerminalPhase(status?.phase) ? Date.parse(status?.completionTime ?? begin) : now.getTime()
  return formatDuration(Math.max(0, Math.round((end - Date.parse(begin)) / 1000)) * 1000)
}

const sumTokens = (used: TaskSpending | undefined) => used && used.inputTokens + used.outputTokens

export function treeColumns(now: Date, findUsed: FindUsed): Column<TreeRow>[] {
  return [
    { title: 'NAME', value: ({ lead, task }) => lead + task.metadata.name },
    { title: 'AGENT', value: ({ task }) => task.spec.agentRef?.name },
    { title: 'PHASE', value: ({ task }) => describePhase(task) },
    { title: 'TIME', value: ({ task }) => describeTime(task, now) },
    { title: 'TOKENS', value: ({ task }) => sumTokens(findUsed(task)) },
    {
      title: 'COST',
      value: ({ task }) => {
        const used = findUsed(task)
        return used?.cost === undefined ? undefined : formatMoney(used.cost, used.currency)
      },
    },
    { title: 'MESSAGE', value: ({ task }) => (task.status?.phase === 'Succeeded' ? undefined : task.status?.message) },
  ]
}

function countPhases(rows: readonly TreeRow[]): string {
  const counts = new Map<string, number>()
  for (const { task } of rows) {
    const phase = (task.status?.phase ?? 'Pending').toLowerCase()
    counts.set(phase, (counts.get(phase) ?? 0) + 1)
  }
  return [...counts].map(([phase, count]) => `${count} ${phase}`).join(', ')
}

/** How many tasks there are in which phase, and what they used together. */
export function describeTotal(rows: readonly TreeRow[], findUsed: FindUsed): string {
  const used = rows.flatMap(({ task }) => findUsed(task) ?? [])
  const tokens = used.reduce((sum, one) => sum + (sumTokens(one) ?? 0), 0)
  const costs = new Map<string, number>()
  for (const { cost, currency = '' } of used)
    if (cost !== undefined) costs.set(currency, (costs.get(currency) ?? 0) + cost)
  const money = [...costs].map(([currency, cost]) => formatMoney(cost, currency))
  const count = rows.length === 1 ? '1 task' : `${rows.length} tasks`
  return `${count}: ${[countPhases(rows), `${tokens} tokens`, ...money].join(', ')}`
}
