// Before this machine's service is stopped: that it is the one that is meant, and that its running tasks may wait.
import type { Client } from '../../client/client.ts'
import { listTasks } from '../../contract/api/tasks/tasks.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { ignoring, isSvcError, SvcError } from '../../errors.ts'
import type { CliContext, GlobalOptions } from '../context.ts'
import { agrees } from '../output/questions.ts'

/** InvalidRequest where a service elsewhere is named: nothing is done to this machine's in its place. */
export function requireLocal(context: CliContext, options: GlobalOptions, what: string): void {
  const { server, by } = context.target(options)
  if (server === undefined) return
  const way = by === '--server' ? 'leave that out' : 'add --context local'
  throw new SvcError(
    'InvalidRequest',
    `\`${what}\` is for the service of this machine, but ${by} names ${server}: ${way}`,
  )
}

export type StopFlags = { yes?: boolean; force?: boolean }

/** False when a person does not want it after all. Conflict where nobody can be asked and no flag says so. */
export async function mayStop(context: CliContext, options: GlobalOptions, flags: StopFlags): Promise<boolean> {
  const warning = await describeRunning(context, options)
  if (warning === undefined) return true
  if (flags.yes || flags.force) {
    context.terminal.note(warning)
    return true
  }
  if (context.openPrompt === undefined) throw new SvcError('Conflict', `${warning}: add --yes to stop it now`)
  context.terminal.note(warning)
  return agrees(context, 'stop it?')
}

/** What would be interrupted, in all namespaces; undefined where nothing is, or no service runs. */
async function describeRunning(context: CliContext, options: GlobalOptions): Promise<string | undefined> {
  const client = await findService(context, options)
  if (client === undefined) return undefined
  try {
    const count = await countTasks(client, { phase: 'Running', allNamespaces: true })
    if (count === 0) return undefined
    return `${describeCount(count)} ${count === 1 ? 'runs' : 'run'}, and will go on when the service starts again`
  } catch (error) {
    // It is there and too busy to answer: it may well be running something.
    if (isSvcError(error, 'Unavailable')) return `the service does not say whether tasks run (${error.message})`
    throw error
  }
}

/** Undefined where the service of this machine does not run. */
export async function findService(context: CliContext, options: GlobalOptions): Promise<Client | undefined> {
  return ignoring(context.connect(options, { start: false }), 'Unavailable')
}

const maxCounted = 500

/** Between 0 and 500, which stands for all that are more. `query` says where. */
export async function countTasks(
  client: Client,
  query: { phase: NonNullable<Task['status']>['phase']; namespace?: string; allNamespaces?: boolean },
): Promise<number> {
  const page = await client.call(listTasks, { query: { ...query, limit: maxCounted } })
  return page.items.length
}

/** "1 task", "500 or more tasks". */
export function describeCount(count: number): string {
  return count >= maxCounted ? `${maxCounted} or more tasks` : `${count} task${count === 1 ? '' : 's'}`
}
