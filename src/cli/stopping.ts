// Before this machine's service is stopped: that it is the one that is meant, and that its running tasks may wait.
import { isSvcError, SvcError } from '../errors.ts'
import { agrees } from './agree.ts'
import type { CliContext, GlobalOptions } from './context.ts'
import { countTasks, describeCount } from './task-count.ts'

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

/** False when a person does not want it after all. InvalidRequest where nobody can be asked and no flag says so. */
export async function mayStop(context: CliContext, options: GlobalOptions, flags: StopFlags): Promise<boolean> {
  const count = await countRunning(context, options)
  if (count === 0) return true
  const warning = `${describeCount(count)} ${count === 1 ? 'runs' : 'run'}, and will go on when the service starts again`
  if (flags.yes || flags.force) {
    context.terminal.note(warning)
    return true
  }
  if (context.openPrompt === undefined) throw new SvcError('Conflict', `${warning}: add --yes to stop it now`)
  context.terminal.note(warning)
  return agrees(context, 'stop it?')
}

/** Of all namespaces; none where no service runs. */
async function countRunning(context: CliContext, options: GlobalOptions): Promise<number> {
  try {
    const client = await context.connect(options, { start: false })
    return await countTasks(client, { phase: 'Running', allNamespaces: true })
  } catch (error) {
    if (isSvcError(error, 'Unavailable')) return 0
    throw error
  }
}
