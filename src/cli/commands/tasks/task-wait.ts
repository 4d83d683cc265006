// task wait: follows tasks to their ends, whoever made them.
import type { Command } from 'commander'
import type { Client } from '../../../client/client.ts'
import { commandHint } from '../../../client/command-hint.ts'
import { watchTasks } from '../../../client/task-watch.ts'
import { getTask } from '../../../contract/api/tasks/tasks.ts'
import { isTerminalPhase, type Task } from '../../../contract/kinds/tasks/task.ts'
import { SvcError } from '../../../errors.ts'
import { withCall } from '../../action.ts'
import type { CliContext, GlobalOptions } from '../../context.ts'
import { doEachName, ExitSignal, exitCodes } from '../../failure.ts'
import { describeGone, type FollowOptions, printOutcome } from '../../follow/follow.ts'
import { describeGoingOn, watchTask } from '../../follow/interruption.ts'
import { readTail } from '../../global-options.ts'
import { readTaskName, taskTargetOf } from './task-call.ts'

type Waiting = { client: Client; options: GlobalOptions; context: CliContext }

export function addTaskWaitCommand(task: Command, context: CliContext): void {
  task
    .command('wait <names...>')
    .description(
      'wait until it, or each of several, has ended and print the results; the exit code shows how they ended',
    )
    .option('--tail <lines>', 'of one task: begin with the last lines that it has written; all: with every line', '0')
    .addHelpText(
      'after',
      `
Of one task, what it writes from now on is shown as well; of several, only how each ends and its result, as they end.

Exit codes: 0 all succeeded, 1 one failed or was deleted, 4 one was cancelled and none failed.`,
    )
    .action(
      withCall(context, async ({ options }, names: string[], flags: { tail: string }) => {
        const tailLines = readTail(flags.tail)
        const waiting = { client: await context.connect(options), options, context }
        const [only, ...more] = new Set(names.map(readTaskName))
        if (only !== undefined && more.length === 0) return waitForOne(only, waiting, { tailLines })
        await waitForAll([only ?? '', ...more], waiting)
      }),
    )
}

/** InvalidRequest for a schedule that goes on, which would be waited for till it is deleted. */
async function findEnding(name: string, { client, options }: Omit<Waiting, 'context'>): Promise<Task> {
  const task = await client.call(getTask, taskTargetOf(name, options))
  if (task.spec.schedule === undefined || isTerminalPhase(task.status?.phase)) return task
  const advice = `wait for one of its runs; ${commandHint(`task run ${name}`)} makes one and prints its name`
  throw new SvcError('InvalidRequest', `task "${name}" is a schedule, which does not end: ${advice}`)
}

async function waitForOne(
  name: string,
  { client, options, context }: Waiting,
  { tailLines }: Pick<FollowOptions, 'tailLines'>,
): Promise<void> {
  const task = await findEnding(name, { client, options })
  const followed = await watchTask(client, task, { context, tailLines })
  const code = await printOutcome(client, followed, { context, options })
  if (code !== exitCodes.ok) throw new ExitSignal(code)
}

/** The worse of two: a failure says more than that something was cancelled. */
function worseOf(one: number, other: number): number {
  return one === exitCodes.ok || (one === exitCodes.cancelled && other !== exitCodes.ok) ? other : one
}

async function waitForAll(names: string[], waiting: Waiting): Promise<void> {
  const { context } = waiting
  const tasks: Task[] = []
  let code: number = exitCodes.ok
  const find = async (name: string) => void tasks.push(await findEnding(name, waiting))
  await doEachName(names, context.terminal, find).catch((error: unknown) => {
    if (!(error instanceof ExitSignal) || tasks.length === 0) throw error
    code = error.code
  })
  const ended = await context.interruptible((signal) => printEach(tasks, waiting, signal))
  if (ended === undefined) {
    context.terminal.note(describeGoingOn(names))
    throw new ExitSignal(exitCodes.interrupted)
  }
  code = worseOf(code, ended)
  if (code !== exitCodes.ok) throw new ExitSignal(code)
}

/** How they ended, at its worst. */
async function printEach(tasks: Task[], { client, options, context }: Waiting, signal: AbortSignal): Promise<number> {
  const { terminal } = context
  let code: number = exitCodes.ok
  for await (const { task, is } of watchTasks(client, tasks, signal)) {
    if (is === 'there') continue
    if (is === 'gone') terminal.note(`${terminal.colors.red('error:')} ${describeGone(task).message}`)
    else terminal.note(`${task.metadata.name}: ${task.status?.phase ?? 'Unknown'}`)
    const own =
      is === 'gone' ? exitCodes.failed : await printOutcome(client, { task, shown: undefined }, { context, options })
    code = worseOf(code, own)
  }
  signal.throwIfAborted()
  return code
}
