// task trace: what a task did, step by step.
import { getTaskTrace } from '../../../contract/api/tasks/trace.ts'
import { showTrace } from '../../output/trace-command.ts'
import { type AddTaskCommand, type TaskCall, taskTargetOf } from './task-call.ts'

export function addTaskTraceCommand(add: AddTaskCommand): void {
  add('trace <name>', 'what it did, step by step: calls of models and tools with times, tokens and cost', showTaskTrace)
    .option('-f, --follow', 'go on until the task ends')
    .option('--attempt <number>', 'only this attempt')
}

function showTaskTrace({ client, options, context, flags }: TaskCall, name: string): Promise<void> {
  const { query } = taskTargetOf(name, options)
  const attempt = flags.attempt === undefined ? undefined : String(flags.attempt)
  const shown = { route: getTaskTrace, name, follow: flags.follow === true, attempt }
  return showTrace({ client, options, context, query }, shown)
}
