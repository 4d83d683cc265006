// task: see and steer tasks.
import type { Command } from 'commander'
import { typed } from '../../../client/typed.ts'
import { cancelTask, deleteTask, getTask, listTasks, retryTask, runTask } from '../../../contract/api/tasks/tasks.ts'
import { promptOf, type Task } from '../../../contract/kinds/tasks/task.ts'
import type { CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { addAllNamespacesOption, addWatchOption, readCount, readGlobalOptions, scopeOf } from '../../global-options.ts'
import { describeScope, printAnswer, printList, viewOf } from '../../output/answers.ts'
import { formatFields } from '../../output/output.ts'
import { listNewest } from '../../output/paging.ts'
import { taskColumns } from '../../output/task-table.ts'
import { type Filters, watchList } from '../../output/watched-list.ts'
import { type AddTaskCommand, readTaskName, type TaskCall, targetOf } from './task-call.ts'
import { addTaskChangeCommands } from './task-changes.ts'
import { addTaskDiffCommands } from './task-diff.ts'
import { addTaskPlanCommand } from './task-plan.ts'
import { addTaskPruneCommand } from './task-prune.ts'
import { addTaskRecordCommands } from './task-records.ts'
import { addTaskTreeCommand } from './task-tree.ts'
import { addTaskWaitCommand } from './task-wait.ts'

export function addTaskCommands(program: Command, context: CliContext): void {
  const task = program.command('task').description('pieces of work: see, follow, steer')
  const add: AddTaskCommand = (usage, description, action) =>
    task
      .command(usage)
      .description(description)
      .action(async (first: string | string[], ...rest: unknown[]) => {
        const command = rest.at(-1) as Command
        const options = readGlobalOptions(command)
        const client = await context.connect(options)
        const call = { client, options, context, given: command.opts(), more: command.args.slice(1) }
        await doEachName([first].flat().map(readTaskName), context.terminal, (name) => action(call, name))
      })
  addWatchOption(addAllNamespacesOption(task.command('list')))
    .alias('ls')
    .description('tasks of the namespace, newest first')
    .option('--phase <phase>', 'only those of this phase: Pending, Running, Succeeded, Failed, Scheduled, Cancelled')
    .option('--type <type>', 'only those of this type: ai, container, agent')
    .option('--agent <name>', 'only those of this agent')
    .option('-l, --selector <labels>', 'only those with these labels, such as team=a,stage!=test')
    .option('--limit <count>', 'how many at most', '500')
    .action((given: ListOptions, command: Command) => listThem(given, command, context))
  add('get <name>', 'a task and its state', showTask)
  addTaskTreeCommand(add)
  addTaskRecordCommands(add)
  addTaskPlanCommand(add)
  addTaskDiffCommands(add)
  addTaskWaitCommand(task, context)
  add('cancel <names...>', 'stop one, or several; they stay, in phase Cancelled', cancel).option(
    '--reason <text>',
    'why; shown in the status',
  )
  addTaskChangeCommands(add)
  add('run <name>', 'run a schedule now; prints the name of the run', runNow)
  task
    .command('retry <names...>')
    .description('run a finished task, or several, again as new tasks; prints their names')
    .action((names: string[], _given: unknown, command: Command) => retry(names.map(readTaskName), command, context))
  addTaskPruneCommand(task, context)
  add('delete <names...>', 'stop one, or several, and remove them with their records', remove).alias('rm')
}

type ListOptions = { phase?: string; type?: string; agent?: string; selector?: string; limit: string; watch?: boolean }

async function listThem(given: ListOptions, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const { phase, type, agent, selector: labelSelector } = given
  const limit = readCount('--limit', given.limit)
  const filters = { phase, type, agent, labelSelector } as Filters
  if (given.watch === true) {
    return watchList({ kind: 'Task', columnsAt: taskColumns, filters, limit }, { client, options, context })
  }
  const query = { ...scopeOf(options), ...filters, view: viewOf(options) }
  const { items, hasMore } = await listNewest<Task>(client, listTasks, {
    query,
    limit,
  })
  const empty = `no such task${describeScope(options)}; \`${typed('run "say hello"')}\` makes one`
  await printList(context, options, { items, columns: taskColumns(context.now()), empty, kind: 'Task' })
  if (hasMore) context.terminal.note(`there are more than ${items.length}; --limit shows more of them`)
}

async function showTask({ client, options, context }: TaskCall, name: string): Promise<void> {
  const task = await client.call(getTask, targetOf(name, options))
  await printAnswer(context, options, task, () => formatFields([...listSpecFields(task), ...listStatusFields(task)]))
}

type Fields = Parameters<typeof formatFields>[0]

function listSpecFields({ metadata, spec }: Task): Fields {
  return [
    ['name', metadata.name],
    ['namespace', metadata.namespace],
    ['type', spec.type],
    ['agent', spec.agentRef?.name],
    ['provider', spec.ai?.providerRef?.name],
    ['model', spec.ai?.model],
    ['session', spec.sessionRef?.name],
    ['image', spec.image],
    ['command', spec.command?.join(' ')],
    ['prompt', promptOf(spec)],
    ['schedule', spec.schedule && `${spec.schedule} (${spec.timeZone ?? 'UTC'})`],
    ['created', metadata.creationTimestamp],
  ]
}

function listStatusFields({ status }: Task): Fields {
  return [
    ['phase', status?.phase ?? 'Pending'],
    ['message', status?.message],
    ['attempts', status?.attempts],
    ['started', status?.startTime],
    ['completed', status?.completionTime],
    ['next run', status?.nextScheduleTime],
    ['next retry', status?.nextRetryTime],
    ['callback', status?.webhook && `${status.webhook.state} ${status.webhook.lastError ?? ''}`],
    ['tokens', status?.usage && `${status.usage.inputTokens} in, ${status.usage.outputTokens} out`],
    ['cost', status?.usage?.cost && `${status.usage.cost} ${status.usage.currency ?? ''}`],
  ]
}

async function cancel({ client, options, context, given }: TaskCall, name: string): Promise<void> {
  const body = typeof given.reason === 'string' ? { reason: given.reason } : {}
  await client.call(cancelTask, { ...targetOf(name, options), body })
  context.terminal.note(`task ${name} is being cancelled`)
}

async function runNow({ client, options, context }: TaskCall, name: string): Promise<void> {
  const made = await client.call(runTask, targetOf(name, options))
  await printAnswer(context, options, made, () => made.name)
}

async function retry(names: string[], command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const made: Task[] = []
  try {
    await doEachName(names, context.terminal, async (name) => {
      made.push(await client.call(retryTask, targetOf(name, options)))
    })
  } finally {
    const answer = names.length === 1 ? made[0] : made
    const print = () => made.map((task) => task.metadata.name).join('\n')
    if (made.length > 0) await printAnswer(context, options, answer, print)
  }
}

async function remove({ client, options, context }: TaskCall, name: string): Promise<void> {
  await client.call(deleteTask, targetOf(name, options))
  context.terminal.note(`task ${name} is being deleted`)
}
