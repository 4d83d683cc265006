// The tree of a task that is followed, below its progress, from when it has made its first task.
import type { Client } from '../../client/client.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import type { CliContext } from '../context.ts'
import { formatTable } from '../output/output.ts'
import { type TreeRow, treeColumns } from '../output/task-tree.ts'
import type { Spinner } from '../output/terminal.ts'
import { createTreeUsage, watchTree } from './tree-watch.ts'

type Surroundings = { context: CliContext; signal: AbortSignal }

/** Times go on while nothing else does. */
const drawEveryMs = 1000

/** To be told each state of the task. Whoever may not watch its tasks sees none of them. */
export function showTreeBelow(client: Client, spinner: Spinner, surroundings: Surroundings): (task: Task) => void {
  let isShown = false
  return (task) => {
    if (isShown || spinner.below === undefined || (task.status?.childTasks ?? []).length === 0) return
    isShown = true
    follow(client, task, { ...surroundings, show: spinner.below }).catch(() => undefined)
  }
}

type Following = Surroundings & { show: (lines: readonly string[]) => void }

async function follow(client: Client, root: Task, { context, signal, show }: Following): Promise<void> {
  const usage = createTreeUsage(client, root, context.now)
  let rows: TreeRow[] = []
  const draw = async () => {
    await usage.refresh(rows)
    const table = formatTable(rows, treeColumns(context.now(), usage.find), context.terminal.width)
    if (rows.length > 1) show(table.split('\n'))
  }
  const timer = setInterval(() => void draw(), drawEveryMs)
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  try {
    for await (rows of watchTree(client, root, signal)) await draw()
  } finally {
    clearInterval(timer)
  }
}
