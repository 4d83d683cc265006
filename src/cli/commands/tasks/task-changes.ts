// task update, suspend, resume and edit, for what has not started; task prune, for what ended long ago.
import type { Command } from 'commander'
import { deleteTask, listTasks } from '../../../contract/api/tasks/tasks.ts'
import { isTerminalPhase, type Task, terminalPhases } from '../../../contract/kinds/tasks/task.ts'
import { tryParseDuration } from '../../../contract/values/duration.ts'
import { ignoring, SvcError } from '../../../errors.ts'
import { withCall } from '../../action.ts'
import type { CliCall, CliContext } from '../../context.ts'
import { namespaceQuery } from '../../global-options.ts'
import { changeTask, editObject } from '../../objects/change-object.ts'
import { findEntry } from '../../objects/kinds.ts'
import { requireAllNamed } from '../../objects/references.ts'
import { addChangingOptions, fillSpec, requireSome, type Spec } from '../../objects/spec-options.ts'
import { taskOptions } from '../../objects/task-options.ts'
import { printAnswer } from '../../output/answers.ts'
import { listPages } from '../../output/paging.ts'
import { printChanges } from '../resources/spec-commands.ts'
import { type AddTaskCommand, type TaskCall, taskTargetOf } from './task-call.ts'

export function addTaskChangeCommands(add: AddTaskCommand): void {
  add(
    'suspend <names...>',
    'hold back what has not started yet: a task, its next iteration or retry, the runs of a schedule',
    suspendBy(true),
  )
  add('resume <names...>', 'let them start, or make runs, again', suspendBy(false))
  addChangingOptions(
    add('update <name>', 'change fields of a task that has not started, or of a schedule', update),
    taskOptions,
  )
  add('edit <name>', 'change a task that has not started, or a schedule, in $EDITOR', edit)
}

function suspendBy(suspend: boolean) {
  return async ({ client, options, context }: TaskCall, name: string): Promise<void> => {
    await changeTask(client, taskTargetOf(name, options), (spec) => ({ ...spec, suspend }))
    context.terminal.note(`task ${name} is ${suspend ? 'suspended' : 'resumed'}`)
  }
}

async function update({ client, options, context, flags }: TaskCall, name: string): Promise<void> {
  requireSome(
    flags,
    taskOptions.map(({ flags }) => flags),
    'task',
  )
  await requireAllNamed(taskOptions, flags, { client, options, context })
  const change = (spec: Spec) => fillSpec(spec, taskOptions, { flags, context })
  printChanges(`task ${name}`, await changeTask(client, taskTargetOf(name, options), change), context)
}

async function edit({ client, options, context }: TaskCall, name: string): Promise<void> {
  await editObject(client, findEntry('Task'), name, { options, context })
}

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
    .action(withCall(context, prune))
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

async function prune({ options, context }: CliCall, flags: PruneOptions): Promise<void> {
  const before = context.now().getTime() - readAge(flags.olderThan)
  const phases = readPhases(flags.phase)
  const client = await context.connect(options)
  const names: string[] = []
  for (const phase of phases) {
    const query = { ...namespaceQuery(options), phase, labelSelector: flags.selector }
    const { items } = await listPages<Task>(client, listTasks, { query })
    const due = items.filter(({ status }) => Date.parse(status?.completionTime ?? '') <= before)
    for (const { metadata } of due) {
      if (flags.dryRun !== true) {
        const { namespace, resourceVersion } = metadata
        const headers = { 'if-match': `"${resourceVersion}"` }
        const deleted = client.call(deleteTask, { params: { id: metadata.name }, query: { namespace }, headers })
        // Somebody else deleted it first, or created it again.
        await ignoring(deleted, 'NotFound', 'Conflict')
      }
      names.push(metadata.name)
    }
  }
  await printAnswer(context, options, names, () => names.join('\n'))
  context.terminal.note(
    `${names.length} ${names.length === 1 ? 'task' : 'tasks'} ${flags.dryRun ? 'would be ' : ''}deleted`,
  )
}
