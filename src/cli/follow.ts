// Follows a task to its end: progress and log lines while it runs, then its result.
import type { Client } from '../client/client.ts'
import { readEvents } from '../client/event-stream.ts'
import { getTask, getTaskEvents, getTaskResult } from '../contract/api/tasks.ts'
import { isTerminalPhase, type Task, type TaskPhase } from '../contract/resources/task.ts'
import { isSvcError } from '../errors.ts'
import type { CliContext, GlobalOptions } from './context.ts'
import { exitCodes } from './failure.ts'
import { type LogPosition, readLog } from './log-lines.ts'
import { formatData } from './output.ts'
import { createTail, type Tail } from './tail.ts'
import type { Spinner } from './terminal.ts'

export type Followed = {
  task: Task
  /** The end of the log as shown; undefined when none was. */
  shown: string | undefined
}

/** What was shown of a log, so that following can resume. */
export type ShownLog = { position: LogPosition; tail: Tail }

export function createShownLog(): ShownLog {
  return { position: {}, tail: createTail() }
}

export type FollowOptions = { context: CliContext; signal: AbortSignal; quiet?: boolean | undefined; log: ShownLog }

/** Resolves to the task in a final phase. */
export async function followTask(client: Client, task: Task, options: FollowOptions): Promise<Followed> {
  const { log } = options
  if (isTerminalPhase(task.status?.phase)) return { task, shown: log.tail.read() || undefined }
  const spinner = options.quiet ? silentSpinner : options.context.terminal.spin(describe(task))
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, options.signal])
  const following = { client, task, signal, spinner }
  const logs = options.quiet ? Promise.resolve() : followLogs(following, log, options.context)
  try {
    await followPhases(following)
    await Promise.race([logs, waitAtMost(lastLinesMs)])
  } finally {
    stop.abort()
    spinner.stop()
  }
  return { task: await client.call(getTask, targetOfTask(task)), shown: options.quiet ? undefined : log.tail.read() }
}

const silentSpinner: Spinner = { update: () => {}, log: () => {}, part: () => {}, stop: () => {} }

/** The last log lines may arrive a moment after the final phase. */
const lastLinesMs = 2000

function waitAtMost(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref())
}

export function targetOfTask(task: Task) {
  const { name, namespace } = task.metadata
  return { params: { id: name }, query: { namespace } }
}

function describe({ metadata, status }: Task): string {
  return describeProgress(metadata.name, status?.phase ?? 'Pending', status?.message)
}

function describeProgress(name: string, phase: string, message: string | undefined): string {
  return `${name} is ${phase.toLowerCase()}${message ? `: ${message}` : ''}`
}

type Following = { client: Client; task: Task; signal: AbortSignal; spinner: Spinner }

async function followPhases({ client, task, signal, spinner }: Following): Promise<void> {
  const { params, query } = targetOfTask(task)
  for await (const event of readEvents(client, getTaskEvents, { params, query: { ...query, follow: true }, signal })) {
    const { phase = 'Pending', message } = JSON.parse(event.data) as { phase?: string; message?: string }
    // The outcome is printed once, with the result.
    if (!isTerminalPhase(phase as TaskPhase)) spinner.update(describeProgress(task.metadata.name, phase, message))
  }
}

async function followLogs({ client, task, signal, spinner }: Following, log: ShownLog, context: CliContext) {
  const { dim } = context.terminal.colors
  try {
    for await (const item of readLog(client, { ...targetOfTask(task), signal, position: log.position })) {
      if (typeof item !== 'string') {
        spinner.part(item)
        continue
      }
      // Brackets mark what svc says about the run; all else is the task's own output.
      spinner.log(item, item.startsWith('[') ? dim : undefined)
      log.tail.add(item)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

type Printing = { context: CliContext; options: GlobalOptions }

/** Prints the result, or why there is none; returns the exit code for the phase. */
export async function printOutcome(client: Client, followed: Followed, printing: Printing): Promise<number> {
  const { task } = followed
  const { terminal } = printing.context
  const { output } = printing.options
  const result = await readResult(client, task)
  const data = await formatData(output, output === 'name' ? task : { task, result })
  if (data !== undefined) terminal.print(data)
  else if (result !== undefined && !isOnScreen(result, followed, terminal.showsBoth))
    terminal.print(result.replace(/\n$/, ''))
  const phase = task.status?.phase
  if (phase === 'Succeeded') return exitCodes.ok
  terminal.note(`${terminal.colors.red(`${phase ?? 'Unknown'}:`)} ${task.status?.message ?? ''}`)
  return phase === 'Cancelled' ? exitCodes.cancelled : exitCodes.failed
}

/** Whether the log that a person has just seen ended with exactly the result. */
function isOnScreen(result: string, { shown }: Followed, showsBoth: boolean): boolean {
  return showsBoth && shown !== undefined && result.trim() !== '' && shown.endsWith(result.trim())
}

async function readResult(client: Client, task: Task): Promise<string | undefined> {
  try {
    return (await client.call(getTaskResult, targetOfTask(task))).result
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return undefined
    throw error
  }
}
