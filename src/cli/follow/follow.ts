// Follows a task to its end: progress and log lines while it runs, then its result.
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import { readPersistently } from '../../client/event-stream.ts'
import { type FollowedPosition, followLog } from '../../client/task-log.ts'
import { watchTasks } from '../../client/task-watch.ts'
import { readStructuredResult } from '../../contract/api/tasks/structured-result.ts'
import { getTask, getTaskResult } from '../../contract/api/tasks/tasks.ts'
import { listNotUnderstood } from '../../contract/kinds/providers/demo.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { ignoring, isSvcError, SvcError } from '../../errors.ts'
import { isParked } from '../../rules/tasks/parking.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { exitCodes } from '../failure.ts'
import { formatData } from '../output/output.ts'
import type { Spinner, Terminal } from '../output/terminal.ts'
import { answerApprovals } from './approval-questions.ts'
import { showTreeBelow } from './tree-watch.ts'

export type FollowedTask = {
  task: Task
  /** The end of the log as shown; undefined when none was. */
  shown: string | undefined
}

/** What was shown of a log, so that following can resume. */
export type ShownLog = { position: FollowedPosition; tail: Tail }

export function createShownLog(): ShownLog {
  return { position: {}, tail: createTail() }
}

export type FollowOptions = {
  context: CliContext
  signal: AbortSignal
  quiet?: boolean | undefined
  log: ShownLog
  /** How much of what it has written already is shown; absent: all of it. */
  tailLines?: number | undefined
}

/** Resolves to the task in a final phase. */
export async function followTask(client: Client, task: Task, options: FollowOptions): Promise<FollowedTask> {
  const { log } = options
  if (isTerminalPhase(task.status?.phase)) return { task, shown: log.tail.read() || undefined }
  const spinner = options.quiet ? silentSpinner : options.context.terminal.spin(describe(task))
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, options.signal])
  const logs = options.quiet ? Promise.resolve() : followLogs(client, task, { ...options, signal, spinner })
  // It is looked at once the task has ended.
  logs.catch(() => undefined)
  const watched = new Set<string>()
  const { namespace } = task.metadata
  const asking = { client, context: options.context, namespace, signal, names: () => watched, suspend: spinner.suspend }
  answerApprovals(asking).catch(() => undefined)
  try {
    const last = await followStates(client, task, { signal, spinner, context: options.context, watched })
    options.signal.throwIfAborted()
    await Promise.race([logs, waitAtMost(lastLinesMs)])
    return { task: await readAgain(client, last), shown: options.quiet ? undefined : log.tail.read() }
  } finally {
    stop.abort()
    spinner.stop()
  }
}

const silentSpinner: Spinner = {
  update: () => {},
  log: () => {},
  part: () => {},
  suspend: () => () => {},
  stop: () => {},
}

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
  const { phase = 'Pending', message } = status ?? {}
  return `${metadata.name} is ${phase.toLowerCase()}${message ? `: ${message}` : ''}`
}

type Following = {
  signal: AbortSignal
  spinner: Spinner
  context: CliContext
  /** Names of tasks that may ask for approval. */
  watched: Set<string>
}

/** It waits for an answer, or what it made may. */
function watchForQuestions(watched: Set<string>, { metadata, status }: Task): void {
  watched.clear()
  if (isParked({ status })) watched.add(metadata.name)
  for (const name of listChildNames(status)) watched.add(name)
}

const listChildNames = (status: Task['status']): string[] => (status?.childTasks ?? []).map(({ name }) => name)

/** Its last state. NotFound when it is deleted. */
async function followStates(
  client: Client,
  task: Task,
  { signal, spinner, context, watched }: Following,
): Promise<Task> {
  let last = task
  const showTree = showTreeBelow(client, spinner, { context, signal })
  for await (const { task: seen, is } of watchTasks(client, [task], signal)) {
    if (is === 'gone') throw describeGone(task)
    // The outcome is printed once, with the result.
    if (is === 'there') spinner.update(describe(seen))
    showTree(seen)
    watchForQuestions(watched, seen)
    last = seen
  }
  return last
}

export function describeGone({ metadata }: Task): SvcError {
  return new SvcError('NotFound', `task ${metadata.name} was deleted before it had ended`)
}

/** With all that a read returns; one that ended may be deleted by now. */
async function readAgain(client: Client, task: Task): Promise<Task> {
  try {
    return await readPersistently(() => client.call(getTask, targetOfTask(task)))
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return task
    throw error
  }
}

async function followLogs(
  client: Client,
  task: Task,
  options: FollowOptions & Omit<Following, 'context' | 'watched'>,
): Promise<void> {
  const { log, context, signal, spinner, tailLines } = options
  const { dim } = context.terminal.colors
  const { params, query } = targetOfTask(task)
  try {
    const read = { params, query: { ...query, tailLines, level: 'debug' as const }, signal, position: log.position }
    for await (const item of followLog(client, read)) {
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
export async function printOutcome(client: Client, followed: FollowedTask, printing: Printing): Promise<number> {
  const { task } = followed
  const { terminal } = printing.context
  const { output } = printing.options
  const result = await readResult(client, task)
  const data = await formatData(output, output === 'name' ? task : { task, result })
  if (data !== undefined) terminal.print(data)
  else if (result !== undefined) printResult(result, followed, printing)
  const phase = task.status?.phase
  if (phase === 'Succeeded') return noteNotUnderstood(result ?? '', terminal)
  terminal.note(`${terminal.colors.red(`${phase ?? 'Unknown'}:`)} ${task.status?.message ?? ''}`)
  return phase === 'Cancelled' ? exitCodes.cancelled : exitCodes.failed
}

/** The demo provider does what it knows of a prompt: a script shall not take that for all of it. */
function noteNotUnderstood(result: string, terminal: Terminal): number {
  const missed = listNotUnderstood(readStructuredResult(result).summary)
  if (missed.length === 0) return exitCodes.ok
  const what = missed.map((text) => `"${text}"`).join(', ')
  const advice = `\`${commandHint('provider create main --key-from-env ANTHROPIC_API_KEY')}\` sets up a language model`
  terminal.note(`${terminal.colors.red('Not understood:')} ${what}; ${advice}`)
  return exitCodes.failed
}

/** What it said, and what it changed in its git repository. */
function printResult(text: string, followed: FollowedTask, { context: { terminal } }: Printing): void {
  const { summary, baseSHA, files = [], pushBranch, pushError } = readStructuredResult(text)
  const answer = baseSHA === undefined ? text : summary
  if (!isOnScreen(answer, followed, terminal.isShared)) terminal.print(answer.replace(/\n$/, ''))
  if (baseSHA === undefined) return
  terminal.note(files.length === 0 ? 'it changed no file' : `changed: ${files.join(', ')}`)
  if (pushBranch !== undefined) terminal.note(`pushed to ${pushBranch}`)
  if (pushError !== undefined) terminal.note(`not pushed: ${pushError}`)
}

/** Whether the log that a person has just seen, or the file that has both, ended with exactly the result. */
function isOnScreen(result: string, { shown }: FollowedTask, isShared: boolean): boolean {
  return isShared && shown !== undefined && result.trim() !== '' && shown.endsWith(result.trim())
}

async function readResult(client: Client, task: Task): Promise<string | undefined> {
  const reading = readPersistently(() => client.call(getTaskResult, targetOfTask(task)))
  return (await ignoring(reading, 'NotFound'))?.result
}

export type Tail = {
  add(line: string): void
  /** The lines, without closing remarks in brackets and without blank lines at the end. */
  read(): string
}

const maxTailLength = 1_048_576

export function createTail(): Tail {
  let text = ''
  return {
    add(line) {
      text = `${text}${line}\n`
      if (text.length > 2 * maxTailLength) text = text.slice(-maxTailLength)
    },
    read() {
      const lines = text.trimEnd().split('\n')
      while (lines.length > 1 && lines.at(-1)?.startsWith('[')) lines.pop()
      return lines.join('\n').trimEnd()
    },
  }
}
