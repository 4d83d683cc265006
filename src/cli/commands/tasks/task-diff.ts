// task diff and apply: what a task changed in a git repository, shown, and brought into the checkout at hand.

import { typed } from '../../../client/typed.ts'
import { readStructuredResult } from '../../../contract/api/tasks/structured-result.ts'
import { getTaskResult } from '../../../contract/api/tasks/tasks.ts'
import { SvcError } from '../../../errors.ts'
import { runGit } from '../../files/run-git.ts'
import { printAnswer } from '../../output/answers.ts'
import { type AddTaskCommand, type TaskCall, targetOf } from './task-call.ts'

export function addTaskDiffCommands(add: AddTaskCommand): void {
  add('diff <name>', 'what it changed in its git repository', showDiff)
  add('apply <name>', 'bring what it changed into the git checkout of this folder; commits nothing', applyDiff)
}

/** InvalidRequest for a task that did not work in a repository. */
async function readChanges({ client, options, context }: TaskCall, name: string) {
  const { result } = await client.call(getTaskResult, targetOf(name, options))
  const { diff, diffTruncated = false, files = [], baseSHA } = readStructuredResult(result)
  if (diff === undefined) {
    const advice = `\`${typed(`task result ${name}`)}\` shows what it said`
    throw new SvcError('InvalidRequest', `${name} has no diff, because it did not work in a git repository; ${advice}`)
  }
  if (diffTruncated) context.terminal.note('the diff is incomplete, because it is too large')
  return { diff, diffTruncated, files, baseSHA }
}

async function showDiff(call: TaskCall, name: string): Promise<void> {
  const { context, options } = call
  const changes = await readChanges(call, name)
  if (changes.diff === '' && options.output === 'table') return context.terminal.note(`${name} changed nothing`)
  await printAnswer(context, options, changes, () => changes.diff.replace(/\n$/, ''))
}

async function applyDiff(call: TaskCall, name: string): Promise<void> {
  const { context } = call
  const { diff, diffTruncated, files, baseSHA } = await readChanges(call, name)
  if (diffTruncated) throw new SvcError('InvalidRequest', `nothing is applied: the diff of ${name} is incomplete`)
  if (diff === '') return context.terminal.note(`${name} changed nothing`)
  // Paths of a diff begin at the top of the checkout.
  const top = await runGit(['rev-parse', '--show-toplevel'], '', 'this folder is no git checkout')
  const why = `it does not fit this checkout (the task began at ${baseSHA?.slice(0, 12)}), and nothing was changed`
  await runGit(['-C', top.trim(), 'apply', '--whitespace=nowarn', '-'], diff, why)
  context.terminal.note(files.map((path) => `changed ${path}`).join('\n'))
}
