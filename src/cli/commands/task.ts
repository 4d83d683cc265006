// task: see, follow and steer tasks.
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { Client } from '../../client/client.ts'
import { readEvents } from '../../client/event-stream.ts'
import {
  cancelTask,
  deleteTask,
  getTask,
  getTaskArtifact,
  getTaskEvents,
  getTaskLogs,
  getTaskResult,
  listTaskArtifacts,
  listTasks,
  retryTask,
} from '../../contract/api/tasks.ts'
import type { Task, TaskPhase } from '../../contract/resources/task.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { ExitSignal } from '../failure.ts'
import { followTask, printOutcome } from '../follow.ts'
import { namespaceOf, printAnswer, readGlobalOptions } from '../global-options.ts'
import { type Column, formatAge, formatFields, formatTable } from '../output.ts'

type Call = { client: Client; options: GlobalOptions; context: CliContext }
type Action = (call: Call, name: string, given: Record<string, unknown>) => Promise<void>

export function addTaskCommands(program: Command, context: CliContext): void {
  const task = program.command('task').description('pieces of work: see, follow, steer')
  const add = (usage: string, description: string, action: Action) =>
    task
      .command(usage)
      .description(description)
      .action(async (name: string, given: Record<string, unknown>, command: Command) => {
        const options = readGlobalOptions(command)
        await action({ client: await context.connect(options), options, context }, name, given)
      })
  task
    .command('list')
    .alias('ls')
    .description('tasks of the namespace')
    .option('--phase <phase>', 'only those of this phase')
    .option('-l, --selector <labels>', 'only those with these labels')
    .option('--limit <count>', 'how many at most', '100')
    .action((given: ListOptions, command: Command) => listAll(given, command, context))
  add('get <name>', 'a task and how it stands', showTask)
  add('logs <name>', 'what it wrote', showLogs)
    .option('-f, --follow', 'keep printing until the task ends')
    .option('--tail <lines>', 'only the last lines')
  add('result <name>', 'what it produced', showResult)
  add('events <name>', 'what happened to it, in order', showEvents)
  add('artifacts <name>', 'files that it left', listArtifacts)
  add('download <name> <file>', 'fetch one of its files', () => Promise.resolve()).action(
    (name: string, file: string, _given: unknown, command: Command) => download(name, file, { command, context }),
  )
  add('wait <name>', 'follow it to its end and print its result', waitFor)
  add('cancel <name>', 'stop it', cancel).option('--reason <text>', 'why; shown in its status')
  add('retry <name>', 'run a finished task again, as a new task', retry)
  add('delete <name>', 'stop it and remove it with its records', remove).alias('rm')
}

type ListOptions = { phase?: TaskPhase; selector?: string; limit: string }

const columns = (now: Date): Column<Task>[] => [
  { title: 'NAME', value: (task) => task.metadata.name },
  { title: 'TYPE', value: (task) => task.spec.type },
  { title: 'PHASE', value: (task) => task.status?.phase ?? 'Pending' },
  { title: 'ATTEMPTS', value: (task) => task.status?.attempts ?? 0 },
  { title: 'AGE', value: (task) => formatAge(task.metadata.creationTimestamp, now) },
  { title: 'MESSAGE', value: (task) => task.status?.message?.slice(0, 80) },
]

async function listAll(given: ListOptions, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const filter = {
    ...(given.phase ? { phase: given.phase } : {}),
    ...(given.selector ? { labelSelector: given.selector } : {}),
  }
  const page = await client.call(listTasks, {
    query: { ...namespaceOf(options), ...filter, limit: Number(given.limit) },
  })
  printAnswer(context, options, page.items, () => formatTable(page.items, columns(context.now())))
  if (page.metadata.continue && options.output === 'table')
    context.terminal.note('there are more; raise --limit to see them')
}

const target = (name: string, options: GlobalOptions) => ({ params: { id: name }, query: namespaceOf(options) })

async function showTask({ client, options, context }: Call, name: string): Promise<void> {
  const task = await client.call(getTask, target(name, options))
  const { metadata, spec, status } = task
  printAnswer(context, options, task, () =>
    formatFields([
      ['name', metadata.name],
      ['namespace', metadata.namespace],
      ['type', spec.type],
      ['agent', spec.agentRef?.name],
      ['phase', status?.phase ?? 'Pending'],
      ['message', status?.message],
      ['attempts', status?.attempts],
      ['created', metadata.creationTimestamp],
      ['started', status?.startTime],
      ['completed', status?.completionTime],
      ['next run', status?.nextScheduleTime],
      ['next retry', status?.nextRetryTime],
      ['tokens', status?.usage ? `${status.usage.inputTokens} in, ${status.usage.outputTokens} out` : undefined],
    ]),
  )
}

async function showLogs(
  { client, options, context }: Call,
  name: string,
  given: Record<string, unknown>,
): Promise<void> {
  const tail = given.tail === undefined ? {} : { tailLines: Number(given.tail) }
  if (!given.follow) {
    const { logs } = await client.call(getTaskLogs, {
      params: { id: name },
      query: { ...namespaceOf(options), ...tail },
    })
    if (logs !== '') context.terminal.print(logs)
    return
  }
  const query = { ...namespaceOf(options), ...tail, follow: true }
  const lines = readEvents(client, getTaskLogs, { params: { id: name }, query, signal: context.signal })
  for await (const event of lines) context.terminal.print(event.data)
}

async function showResult({ client, options, context }: Call, name: string): Promise<void> {
  const answer = await client.call(getTaskResult, target(name, options))
  printAnswer(context, options, answer, () => answer.result)
}

async function showEvents({ client, options, context }: Call, name: string): Promise<void> {
  const { items } = await client.call(getTaskEvents, target(name, options))
  const oldestFirst = items.toReversed()
  printAnswer(context, options, oldestFirst, () =>
    formatTable(oldestFirst, [
      { title: 'TIME', value: (event) => event.createdAt },
      { title: 'ATTEMPT', value: (event) => event.attempt },
      { title: 'TYPE', value: (event) => event.type },
      { title: 'PHASE', value: (event) => event.phase },
      { title: 'MESSAGE', value: (event) => event.message },
    ]),
  )
}

async function listArtifacts({ client, options, context }: Call, name: string): Promise<void> {
  const { items: artifacts } = await client.call(listTaskArtifacts, target(name, options))
  printAnswer(context, options, artifacts, () =>
    formatTable(artifacts, [
      { title: 'FILE', value: (artifact) => artifact.filename },
      { title: 'SIZE', value: (artifact) => artifact.size },
      { title: 'TYPE', value: (artifact) => artifact.contentType },
    ]),
  )
}

type Invocation = { command: Command; context: CliContext }

/** Writes the file into the present folder, under its last name only, and never over another. */
async function download(name: string, file: string, { command, context }: Invocation): Promise<void> {
  const options = readGlobalOptions(command)
  const client = await context.connect(options)
  const params = { id: name, filename: file }
  const response = await client.open(getTaskArtifact, { params, query: namespaceOf(options) })
  if (response.body) await pipeline(Readable.fromWeb(response.body), createWriteStream(file, { flags: 'wx' }))
  context.terminal.note(`wrote ${file}`)
}

async function waitFor({ client, options, context }: Call, name: string): Promise<void> {
  const finished = await followTask(client, await client.call(getTask, target(name, options)), context)
  const code = await printOutcome(client, finished, { context, options })
  if (code !== 0) throw new ExitSignal(code)
}

async function cancel({ client, options, context }: Call, name: string, given: Record<string, unknown>): Promise<void> {
  const body = typeof given.reason === 'string' ? { reason: given.reason } : {}
  await client.call(cancelTask, { ...target(name, options), body })
  context.terminal.note(`task ${name} is being cancelled`)
}

async function retry({ client, options, context }: Call, name: string): Promise<void> {
  const task = await client.call(retryTask, target(name, options))
  printAnswer(context, options, task, () => task.metadata.name)
}

async function remove({ client, options, context }: Call, name: string): Promise<void> {
  await client.call(deleteTask, target(name, options))
  context.terminal.note(`task ${name} is being deleted`)
}
