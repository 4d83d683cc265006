// task prune: deletes tasks that ended long ago, with everything that they left.
import type { Command } from 'commander'
import { deleteTask, listTasks } from '../../../contract/api/tasks/tasks.ts'
import { isTerminalPhase, type Task, terminalPhases } from '../../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../../contract/values/duration.ts'
import { isSvcError, SvcError } from '../../../errors.ts'
import type { CliContext } from '../../context.ts'
import { namespaceOf, readGlobalOptions } from '../../global-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { listPages } from '../../output/paging.ts'

type PruneOptions = { olderThan: string; phase?: string; selector?: string; dryRun?: boolean }

const dayMs = 86_400_000

export function addTaskPruneCommand(group: Command, context: CliContext): void {
  group
    .command('prune')
    .description('delete tasks that have ended, with results, logs and files')
    .option('--older-than <age>', 'only those that ended longer ago, such as 7d or 12h; 0s is all', '1d')
    .option('--phase <phase>', `only those of this phase: ${terminalPhases.join(', ')}`)
    .option('-l, --selector <labels>', 'only those with these labels')
    .option('--dry-run', 'only list them')
    .action((given: PruneOptions, command: Command) => prune(given, command, context))
}

function readAge(text: string): number {
  const days = /^(\d+)d$/.exec(text)?.[1]
  const age = days === undefined ? tryParseDuration(text) : Number(days) * dayMs
  if (age !== undefined) return age
  throw new SvcError('InvalidRequest', `--older-than must be days or a duration, such as 7d or 12h, not \`${text}\``)
}

function readPhases(phase: string | undefined): readonly string[] {
  if (phase === undefined) return terminalPhases
  if (isTerminalPhase(phase as Task['status'] extends { phase?: infer P } ? P : never)) return [phase]
  throw new SvcError('InvalidRequest', `--phase must be one of ${terminalPhases.join(', ')}: others have not ended`)
}

async function prune(given: PruneOptions, command: Command, context: CliContext): Promise<void> {
  const options = readGlobalOptions(command)
  const before = context.now().getTime() - readAge(given.olderThan)
  const phases = readPhases(given.phase)
  const client = await context.connect(options)
  const names: string[] = []
  for (const phase of phases) {
    const query = { ...namespaceOf(options), phase, labelSelector: given.selector }
    const { items } = await listPages<Task>(client, listTasks, { query })
    const due = items.filter(({ status }) => Date.parse(status?.completionTime ?? '') <= before)
    for (const { metadata } of due) {
      if (given.dryRun !== true) {
        const { namespace, resourceVersion } = metadata
        const headers = { 'if-match': `"${resourceVersion}"` }
        await client
          .call(deleteTask, { params: { id: metadata.name }, query: { namespace }, headers })
          .catch(ignoreGone)
      }
      names.push(metadata.name)
    }
  }
  await printAnswer(context, options, names, () => names.join('\n'))
  context.terminal.note(
    `${names.length} ${names.length === 1 ? 'task' : 'tasks'} ${given.dryRun ? 'would be ' : ''}deleted`,
  )
}

/** Somebody else deleted it first, or created it again. */
function ignoreGone(error: unknown): void {
  if (!isSvcError(error, 'NotFound') && !isSvcError(error, 'Conflict')) throw error
}
