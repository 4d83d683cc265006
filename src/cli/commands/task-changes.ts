// task suspend, resume and edit: what can be changed of a task that has not started, and of a schedule.
import { getTask, updateTask } from '../../contract/api/tasks.ts'
import { reservedPrefix } from '../../contract/resources/metadata.ts'
import type { Task } from '../../contract/resources/task.ts'
import { SvcError } from '../../errors.ts'
import { formatYaml } from '../output.ts'
import { changeSpec } from '../task-spec.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

export function addTaskChangeCommands(add: AddTaskCommand): void {
  add('suspend <name>', 'hold back a task that has not started, or the runs of a schedule', suspendBy(true))
  add('resume <name>', 'let it start, or make runs, again', suspendBy(false))
  add('edit <name>', 'change a task that has not started, or a schedule, in $EDITOR', edit)
}

function suspendBy(suspend: boolean) {
  return async ({ client, options, context }: TaskCall, name: string): Promise<void> => {
    await changeSpec(client, targetOf(name, options), { suspend })
    context.terminal.note(`task ${name} is ${suspend ? 'suspended' : 'resumed'}`)
  }
}

function dropReserved(annotations: Record<string, string> = {}): Record<string, string> | undefined {
  const own = Object.entries(annotations).filter(([key]) => !key.startsWith(reservedPrefix))
  return own.length === 0 ? undefined : Object.fromEntries(own)
}

/** What a person may change, and the version that they saw. */
async function describeForEditor({ apiVersion, kind, metadata, spec }: Task): Promise<string> {
  const { name, namespace, labels, resourceVersion } = metadata
  const { requestedBy: _requestedBy, transaction: _transaction, ...open } = spec
  const annotations = dropReserved(metadata.annotations)
  const shown = { ...(labels && { labels }), ...(annotations && { annotations }) }
  const text = await formatYaml({
    apiVersion,
    kind,
    metadata: { name, namespace, ...shown, resourceVersion },
    spec: open,
  })
  return `# Save and leave the editor to change the task; leave it unchanged to change nothing.\n${text}\n`
}

async function edit({ client, options, context }: TaskCall, name: string): Promise<void> {
  const target = targetOf(name, options)
  const before = await describeForEditor(await client.call(getTask, target))
  const after = await context.editText(before, `${name}.yaml`)
  if (after === before) return context.terminal.note(`task ${name} is unchanged`)
  const { parse } = await import('yaml')
  const body = readDocument(() => parse(after))
  await client.call(updateTask, { ...target, body })
  context.terminal.note(`task ${name} was changed`)
}

function readDocument(parse: () => unknown): { spec: Task['spec'] } {
  try {
    return parse() as { spec: Task['spec'] }
  } catch (error) {
    throw new SvcError('InvalidRequest', `what the editor left is no YAML: ${(error as Error).message}`)
  }
}
