// task tree: a coordination run as a tree, which is drawn anew while it goes on.
import type { Client } from '../../../client/client.ts'
import { getTask } from '../../../contract/api/tasks/tasks.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import type { CliContext } from '../../context.ts'
import { createTreeUsage, type TreeUsage, watchTree } from '../../follow/tree-watch.ts'
import { printAnswer } from '../../output/answers.ts'
import type { Block } from '../../output/block.ts'
import { formatTable } from '../../output/output.ts'
import { describeTotal, type TreeRow, treeColumns } from '../../output/task-tree.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

/** At most so often the tree is drawn; times go on in between. */
const drawEveryMs = 200
const tickEveryMs = 1000

export function addTaskTreeCommand(add: AddTaskCommand): void {
  add('tree <name>', 'a task and all tasks that it made, with phases, times, tokens and cost', showTree).option(
    '--once',
    'print it as it is now; without this it is drawn anew on a terminal until all have ended',
  )
}

async function showTree(call: TaskCall, name: string): Promise<void> {
  const { client, options, context, given } = call
  const root = await client.call(getTask, targetOf(name, options))
  const usage = createTreeUsage(client, root, context.now)
  const isLive = options.output === 'table' && given.once !== true
  const block = isLive ? context.terminal.block() : undefined
  if (block === undefined) return await printOnce(call, root, usage)
  await context.interruptible((signal) => followTree(client, { root, usage, block, context, signal }))
}

/** The table of the tree, and below it what all of it is together. */
export function listTreeLines(rows: TreeRow[], usage: TreeUsage, context: CliContext): string[] {
  const table = formatTable(rows, treeColumns(context.now(), usage.find), context.terminal.width)
  return [...table.split('\n'), ...(rows.length > 1 ? [describeTotal(rows, usage.find)] : [])]
}

async function printOnce({ client, options, context }: TaskCall, root: Task, usage: TreeUsage): Promise<void> {
  const stop = new AbortController()
  for await (const rows of watchTree(client, root, stop.signal)) {
    await usage.refresh(rows)
    const items = rows.map(({ task }) => task)
    await printAnswer(context, options, { items }, () => listTreeLines(rows, usage, context).join('\n'))
    break
  }
  stop.abort()
}

type Following = { root: Task; usage: TreeUsage; block: Block; context: CliContext; signal: AbortSignal }

async function followTree(client: Client, { root, usage, block, context, signal }: Following): Promise<void> {
  let rows: TreeRow[] = []
  let drawnAt = 0
  let isNew = false
  const draw = () => {
    const idle = Date.now() - drawnAt
    if (rows.length === 0 || (!isNew && idle < tickEveryMs)) return
    drawnAt = Date.now()
    isNew = false
    block.draw(listTreeLines(rows, usage, context))
  }
  const timer = setInterval(() => {
    void usage.refresh(rows).then((changed) => {
      isNew ||= changed
    })
    draw()
  }, drawEveryMs)
  try {
    for await (rows of watchTree(client, root, signal)) isNew = true
  } finally {
    clearInterval(timer)
    if (rows.length > 0) block.end(listTreeLines(rows, usage, context))
  }
}
