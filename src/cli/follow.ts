// Follows a task to its end: progress and log lines while it runs, then its result.
import type { Client } from '../client/client.ts'
import { readEvents } from '../client/event-stream.ts'
import { getTask, getTaskEvents, getTaskLogs, getTaskResult } from '../contract/api/tasks.ts'
import type { Task } from '../contract/resources/task.ts'
import { isSvcError } from '../errors.ts'
import type { CliContext, GlobalOptions } from './context.ts'
import { exitCodes } from './failure.ts'
import { formatData } from './output.ts'
import type { Spinner } from './terminal.ts'

/** Resolves to the task in a phase that nothing leaves. */
export async function followTask(client: Client, task: Task, context: CliContext): Promise<Task> {
  const target = { params: { id: task.metadata.name }, namespace: task.metadata.namespace }
  const spinner = context.terminal.spin(`${task.metadata.name}: Pending`)
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, context.signal])
  const logs = followLogs({ client, context, signal }, target, spinner)
  try {
    await followPhases({ client, context, signal }, target, spinner)
    await Promise.race([logs, waitAtMost(lastLinesMs)])
  } finally {
    stop.abort()
    spinner.stop()
  }
  return client.call(getTask, { params: target.params, query: { namespace: target.namespace } })
}

/** The last log lines may come a moment after the last phase. */
const lastLinesMs = 2000

function waitAtMost(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

type Target = { params: { id: string }; namespace: string }
type Following = { client: Client; context: CliContext; signal: AbortSignal }

async function followPhases({ client, signal }: Following, target: Target, spinner: Spinner): Promise<void> {
  const query = { namespace: target.namespace, follow: true }
  for await (const event of readEvents(client, getTaskEvents, { params: target.params, query, signal })) {
    const { phase, message } = JSON.parse(event.data) as { phase?: string; message?: string }
    spinner.update(`${target.params.id}: ${phase ?? ''} ${message ?? ''}`.trimEnd())
  }
}

async function followLogs({ client, context, signal }: Following, target: Target, spinner: Spinner): Promise<void> {
  const query = { namespace: target.namespace, follow: true }
  try {
    for await (const event of readEvents(client, getTaskLogs, { params: target.params, query, signal })) {
      spinner.log(context.terminal.colors.dim(event.data))
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

type Printing = { context: CliContext; options: GlobalOptions }

/** Prints the result, or why there is none; gives the exit code by phase. */
export async function printOutcome(client: Client, task: Task, { context, options }: Printing): Promise<number> {
  const result = await readResult(client, task)
  const phase = task.status?.phase
  const data = formatData(options.output, { task, result })
  if (data !== undefined) context.terminal.print(data)
  else if (result !== undefined) context.terminal.print(result)
  if (phase === 'Succeeded') return exitCodes.ok
  context.terminal.note(`${context.terminal.colors.red(`${phase ?? 'Unknown'}:`)} ${task.status?.message ?? ''}`)
  return phase === 'Cancelled' ? exitCodes.cancelled : exitCodes.failed
}

async function readResult(client: Client, task: Task): Promise<string | undefined> {
  const { name, namespace } = task.metadata
  try {
    return (await client.call(getTaskResult, { params: { id: name }, query: { namespace } })).result
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  }
}
