// task pr: the pull request of the branch that a task has pushed; no model is asked.
import type { Client } from '../../../client/client.ts'
import { openTaskPullRequest, type TaskPullRequest } from '../../../contract/api/tasks/pull-requests.ts'
import { dropUndefined } from '../../../lib/json.ts'
import type { TaskTarget } from '../../files/artifact-files.ts'
import { printAnswer } from '../../output/answers.ts'
import { type AddTaskCommand, type TaskCall, taskTargetOf } from './task-call.ts'

export type PullRequestWish = { title?: string; body?: string; base?: string; draft?: boolean }

export function addTaskPullRequestCommand(add: AddTaskCommand): void {
  add('pr <name>', 'open the pull request of the branch that it has pushed', open)
    .option('--title <text>', 'its title (default: the first line of the prompt)')
    .option('--body <text>', 'its description, in Markdown (default: what the task says that it did)')
    .option('--base <branch>', 'branch that it is for (default: the one that the task began with)')
    .option('--draft', 'as a draft')
    .addHelpText('after', '\nA branch has one open pull request: where there is one, it is shown.')
}

export function proposePullRequest(
  client: Client,
  target: TaskTarget,
  wish: PullRequestWish,
): Promise<TaskPullRequest> {
  return client.call(openTaskPullRequest, { ...target, body: dropUndefined(wish) })
}

/** `https://… (existing)`. */
export function printPullRequest({ prURL, status }: TaskPullRequest): string {
  return `${prURL} (${status})`
}

async function open({ client, options, context, flags }: TaskCall, name: string): Promise<void> {
  const { title, body, base, draft } = flags as PullRequestWish
  const made = await proposePullRequest(client, taskTargetOf(name, options), {
    title,
    body,
    base,
    draft,
  } as PullRequestWish)
  await printAnswer(context, options, made, () => printPullRequest(made))
}
