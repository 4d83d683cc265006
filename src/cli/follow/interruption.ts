// What Ctrl-C means while a task is followed.
import type { Client } from '../../client/client.ts'
import { commandHint } from '../../client/command-hint.ts'
import { cancelTask, getTask } from '../../contract/api/tasks/tasks.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { ignoring } from '../../errors.ts'
import { ExitSignal, exitCodes } from '../failure.ts'
import { createShownLog, type FollowedTask, type FollowOptions, followTask, type ShownLog } from './follow.ts'

type Following = Pick<FollowOptions, 'context' | 'quiet' | 'tailLines'> & { log?: ShownLog }

/** Follows somebody else's task: Ctrl-C leaves it running. */
export async function watchTask(client: Client, task: Task, following: Following): Promise<FollowedTask> {
  const followed = await follow(client, task, following)
  if (followed) return followed
  following.context.terminal.note(describeGoingOn([task.metadata.name]))
  throw new ExitSignal(exitCodes.interrupted)
}

/** What goes on when nobody waits any more, and how to come back to it. */
export function describeGoingOn(names: readonly string[]): string {
  const all = names.join(' ')
  const [goes, them] = names.length === 1 ? ['goes', 'it'] : ['go', 'them']
  const next = `\`${commandHint(`task wait ${all}`)}\` follows ${them} again, \`${commandHint(`task cancel ${all}`)}\` stops ${them}`
  return `${names.join(', ')} ${goes} on: ${next}`
}

/** Follows a task that this command created: Ctrl-C cancels it. */
export async function driveTask(client: Client, task: Task, following: Following): Promise<FollowedTask> {
  const log = createShownLog()
  const followed = await follow(client, task, { ...following, log })
  if (followed) return followed
  const { name, namespace } = task.metadata
  const target = { params: { id: name }, query: { namespace } }
  following.context.terminal.note(`cancelling ${name}`)
  await cancel(client, target)
  const ended = await follow(client, await client.call(getTask, target), { ...following, log })
  if (ended) return ended
  following.context.terminal.note(`${name} is still being cancelled: \`${commandHint(`task get ${name}`)}\``)
  throw new ExitSignal(exitCodes.interrupted)
}

function follow(client: Client, task: Task, following: Following): Promise<FollowedTask | undefined> {
  const { context, log = createShownLog() } = following
  return context.interruptible((signal) => followTask(client, task, { ...following, signal, log }))
}

type Target = { params: { id: string }; query: { namespace: string } }

async function cancel(client: Client, target: Target): Promise<void> {
  const body = { reason: 'interrupted at the command line' }
  // With a conflict it ended at the same moment.
  await ignoring(client.call(cancelTask, { ...target, body }), 'Conflict')
}
