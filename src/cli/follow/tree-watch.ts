// Follows the tree of a task over the one live stream, with what its tasks have used; also below the progress of a task.
import type { Client } from '../../client/client.ts'
import { growTree } from '../../client/task-tree.ts'
import { type ObjectEvent, watchObjects } from '../../client/watch.ts'
import { getUsage } from '../../contract/api/budgets/usage.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../errors.ts'
import { onAbort } from '../../lib/abort.ts'
import type { CliContext } from '../context.ts'
import { formatTable } from '../output/output.ts'
import { type FindUsed, haveAllEnded, type TaskSpending, type TreeRow, treeColumns } from '../output/task-table.ts'
import type { Spinner } from '../output/terminal.ts'

/** The tasks of the namespace, from which the tree grows. */
function createGrower({ metadata: { uid, name } }: Task) {
  const tasks = new Map<string, Task>()
  let isWhole = false
  let shown = new Set<string>()

  /** Undefined while not all has arrived, and where the event is about a task outside of the tree. */
  function grow(changed: string | undefined): TreeRow[] | undefined {
    const root = tasks.get(uid)
    if (root === undefined) throw new SvcError('NotFound', `task ${name} is gone`)
    const rows = growTree(root, tasks.values())
    const before = shown
    shown = new Set(rows.map(({ task }) => task.metadata.uid))
    return changed === undefined || shown.has(changed) || before.has(changed) ? rows : undefined
  }

  return (event: ObjectEvent<Task>): TreeRow[] | undefined => {
    if (event.type === 'begin') {
      isWhole = false
      tasks.clear()
      return undefined
    }
    if (event.type === 'synced') {
      isWhole = true
      return grow(undefined)
    }
    const { uid: changed } = event.object.metadata
    if (event.type === 'deleted') tasks.delete(changed)
    else tasks.set(changed, event.object)
    return isWhole ? grow(changed) : undefined
  }
}

/** The tree as it is, then each time that one of its tasks changes. Ends when all have ended. NotFound once the task is gone. */
export async function* watchTree(client: Client, root: Task, signal: AbortSignal): AsyncGenerator<TreeRow[]> {
  const grow = createGrower(root)
  const query = { kinds: 'Task', namespaces: root.metadata.namespace, view: 'summary' } as const
  for await (const event of watchObjects<Task>(client, query, signal)) {
    const rows = grow(event)
    if (rows === undefined) continue
    yield rows
    if (haveAllEnded(rows)) return
  }
}

/** Between two questions for the usage of tasks that run. */
const usageEveryMs = 2000

export type TreeUsage = {
  find: FindUsed
  /** Asks for the usage of what runs, if that is due; true when there is something new. */
  refresh(rows: readonly TreeRow[]): Promise<boolean>
}

/** Of tasks that have ended their status says it; of the others the records. Whoever may not read those sees none. */
export function createTreeUsage(client: Client, root: Task, now: () => Date): TreeUsage {
  const { namespace, creationTimestamp: since } = root.metadata
  let known = new Map<string, TaskSpending>()
  let requestedAt = Number.NEGATIVE_INFINITY

  async function read(): Promise<void> {
    const { items } = await client.call(getUsage, { query: { namespace, groupBy: 'task', since } })
    known = new Map(items.map((item) => [item.key, item]))
  }

  return {
    find: ({ metadata, status }) =>
      isTerminalPhase(status?.phase) ? status?.usage : (known.get(`${namespace}/${metadata.name}`) ?? status?.usage),
    async refresh(rows) {
      const isDue = now().getTime() - requestedAt >= usageEveryMs
      if (!isDue || rows.every(({ task }) => isTerminalPhase(task.status?.phase))) return false
      requestedAt = now().getTime()
      return await read().then(
        () => true,
        () => false,
      )
    },
  }
}

type Surroundings = { context: CliContext; signal: AbortSignal }

/** Times go on while nothing else does. */
const drawEveryMs = 1000

/** Watches each state of the task. Whoever may not watch its tasks sees none of them. */
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
  onAbort(signal, () => clearInterval(timer))
  try {
    for await (rows of watchTree(client, root, signal)) await draw()
  } finally {
    clearInterval(timer)
  }
}
