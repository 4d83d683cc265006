// task update, suspend, resume and edit: what can be changed of a task that has not started, and of a schedule.
import { findEntry } from '../../objects/catalog.ts'
import { editObject } from '../../objects/edit-object.ts'
import { addChangingOptions, fillSpec, requireSome, type Spec } from '../../objects/spec-options.ts'
import { taskOptions } from '../../objects/task-options.ts'
import { changeTask } from '../../objects/task-spec.ts'
import { tellChanges } from '../resources/spec-commands.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

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
    await changeTask(client, targetOf(name, options), (spec) => ({ ...spec, suspend }))
    context.terminal.note(`task ${name} is ${suspend ? 'suspended' : 'resumed'}`)
  }
}

async function update({ client, options, context, given }: TaskCall, name: string): Promise<void> {
  requireSome(
    given,
    taskOptions.map(({ flags }) => flags),
    'task',
  )
  const change = (spec: Spec) => fillSpec(spec, taskOptions, { given, context })
  tellChanges(`task ${name}`, await changeTask(client, targetOf(name, options), change), context)
}

async function edit({ client, options, context }: TaskCall, name: string): Promise<void> {
  await editObject(client, findEntry('Task'), name, { options, context })
}
