// task suspend, resume and edit: what can be changed of a task that has not started, and of a schedule.
import { findEntry } from '../catalog.ts'
import { editObject } from '../edit-object.ts'
import { changeSpec } from '../task-spec.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

export function addTaskChangeCommands(add: AddTaskCommand): void {
  add('suspend <names...>', 'hold back tasks that have not started, or the runs of schedules', suspendBy(true))
  add('resume <names...>', 'let them start, or make runs, again', suspendBy(false))
  add('edit <name>', 'change a task that has not started, or a schedule, in $EDITOR', edit)
}

function suspendBy(suspend: boolean) {
  return async ({ client, options, context }: TaskCall, name: string): Promise<void> => {
    await changeSpec(client, targetOf(name, options), { suspend })
    context.terminal.note(`task ${name} is ${suspend ? 'suspended' : 'resumed'}`)
  }
}

async function edit({ client, options, context }: TaskCall, name: string): Promise<void> {
  await editObject(client, findEntry('Task'), name, { options, context })
}
