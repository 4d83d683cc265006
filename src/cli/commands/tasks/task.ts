// task: see and steer tasks.
import type { Command } from 'commander'
import { commandHint } from '../../../client/command-hint.ts'
import { cancelTask, deleteTask, getTask, listTasks, retryTask, runTask } from '../../../contract/api/tasks/tasks.ts'
import { getTaskTrace } from '../../../contract/api/tasks/trace.ts'
import { promptOf, type Task } from '../../../contract/kinds/tasks/task.ts'
import { callService, type ServiceCall } from '../../action.ts'
import type { CliContext } from '../../context.ts'
import { doEachName } from '../../failure.ts'
import { addAllNamespacesOption, addWatchOption, readGlobalOptions } from '../../global-options.ts'
import { printAnswer, viewOf } from '../../output/answers.ts'
import { addList, type ListCommand } from '../../output/list-command.ts'
import { formatFields } from '../../output/output.ts'
import { taskColumns } from '../../output/task-table.ts'
import { showTrace } from '../../output/trace-command.ts'
import { type AddTaskCommand, readTaskName, type TaskCall, taskTargetOf } from './task-call.ts'
import { addTaskChangeCommands, addTaskPruneCommand } from './task-changes.ts'
import { addTaskNetworkCommand, findNetworkText } from './task-network.ts'
import { addTaskPullRequestCommand } from './task-pr.ts'
import { addTaskDiffCommands, addTaskRecordCommands } from './task-records.ts'
import { addTaskPlanCommand, addTaskTreeCommand } from './task-tree.ts'
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
        const call = { client, options, context, flags: command.opts(), more: command.args.slice(1) }
        await doEachName([first].flat().map(readTaskName), context.terminal, (name) => action(call, name))
      })
  const list = addWatchOption(addAllNamespacesOption(task.command('list')))
    .alias('ls')
    .description('tasks of the namespace, newest first')
    .option('--phase <phase>', 'only those of this phase: Pending, Running, Succeeded, Failed, Scheduled, Cancelled')
    .option('--type <type>', 'only those of this type: ai, container, agent')
    .option('--agent <name>', 'only those of this agent')
    .option('-l, --selector <labels>', 'only those with these labels, such as team=a,stage!=test')
    .option('--limit <count>', 'how many at most', '500')
  addList(list, context, tasks)
  add('get <name>', 'a task and its state', showTask).aliases(['show', 'status'])
  addTaskTreeCommand(add)
  addTaskTraceCommand(add)
  addTaskNetworkCommand(add)
  addTaskRecordCommands(add)
  addTaskPlanCommand(add)
  addTaskDiffCommands(add)
  addTaskPullRequestCommand(add)
  addTaskWaitCommand(task, context)
  add('cancel <names...>', 'stop one, or several; they stay, in phase Cancelled', cancel)
    .option('--reason <text>', 'why; shown in the status')
    .alias('stop')
  addTaskChangeCommands(add)
  add('run <name>', 'run a schedule now; prints the name of the run', runNow)
  task
    .command('retry <names...>')
    .description('run a finished task, or several, again as new tasks; prints their names')
    .action(callService(context, (call, names: string[]) => retry(call, names.map(readTaskName))))
  addTaskPruneCommand(task, context)
  add('delete <names...>', 'stop one, or several, and remove them with their records', remove).alias('rm')
}

type Filters = { phase?: string; type?: string; agent?: string; selector?: string }

const tasks: ListCommand<Task, Filters> = {
  route: listTasks,
  pages: 'newest',
  kind: 'Task',
  filters: ({ phase, type, agent, selector }, { options }) => ({
    phase,
    type,
    agent,
    labelSelector: selector,
    view: viewOf(options),
  }),
  columns: taskColumns,
  empty: (scope) => `no such task${scope}; \`${commandHint('run "say hello"')}\` makes one`,
  more: (count) => `there are more than ${count}; --limit shows more of them`,
}

async function showTask({ client, options, context }: TaskCall, name: string): Promise<void> {
  const target = taskTargetOf(name, options)
  const task = await client.call(getTask, target)
  await printAnswer(context, options, task, async () => {
    const network = task.spec.type === 'ai' ? undefined : await findNetworkText(client, target)
    return formatFields([...listSpecFields(task), ['network', network], ...listStatusFields(task)])
  })
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

async function cancel({ client, options, context, flags }: TaskCall, name: string): Promise<void> {
  const body = typeof flags.reason === 'string' ? { reason: flags.reason } : {}
  await client.call(cancelTask, { ...taskTargetOf(name, options), body })
  context.terminal.note(`task ${name} is being cancelled`)
}

async function runNow({ client, options, context }: TaskCall, name: string): Promise<void> {
  const made = await client.call(runTask, taskTargetOf(name, options))
  await printAnswer(context, options, made, () => made.name)
}

async function retry({ client, options, context }: ServiceCall, names: string[]): Promise<void> {
  const made: Task[] = []
  try {
    await doEachName(names, context.terminal, async (name) => {
      made.push(await client.call(retryTask, taskTargetOf(name, options)))
    })
  } finally {
    const answer = names.length === 1 ? made[0] : made
    const print = () => made.map((task) => task.metadata.name).join('\n')
    if (made.length > 0) await printAnswer(context, options, answer, print)
  }
}

async function remove({ client, options, context }: TaskCall, name: string): Promise<void> {
  await client.call(deleteTask, taskTargetOf(name, options))
  context.terminal.note(`task ${name} is being deleted`)
}

function addTaskTraceCommand(add: AddTaskCommand): void {
  add('trace <name>', 'what it did, step by step: calls of models and tools with times, tokens and cost', showTaskTrace)
    .option('-f, --follow', 'go on until the task ends')
    .option('--attempt <number>', 'only this attempt')
}

function showTaskTrace({ client, options, context, flags }: TaskCall, name: string): Promise<void> {
  const { query } = taskTargetOf(name, options)
  const attempt = flags.attempt === undefined ? undefined : String(flags.attempt)
  const shown = { route: getTaskTrace, name, follow: flags.follow === true, attempt }
  return showTrace({ client, options, context, query }, shown)
}
