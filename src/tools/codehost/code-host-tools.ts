// The tools of the code host. They run in the service, which has the login: a worker passes the call on.
import type { z } from 'zod'
import {
  AutoMergePullRequest,
  CheckPrReviewMarker,
  CheckPullRequestCi,
  type CodeHostTool,
  CommentOnIssue,
  CreatePullRequest,
  GetIssue,
  ListIssues,
  ListPullRequests,
  MergePullRequest,
  PostReviewComment,
  ReviewPullRequest,
} from '../../contract/api/codehost/code-host-tools.ts'
import { type ErrorReason, errorStatus, SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { TaskCodeHost } from '../../ports/codehost/code-host.ts'
import type { CallContext } from '../coordination/family/call-host.ts'
import { defineTool, type ModelTool } from '../registry/tool.ts'

export type CodeHostToolContext = CallContext & {
  codeHost: TaskCodeHost
  /** By repository and number: the head that the model has been shown last. */
  readHeads: Map<string, string>
}

function readReason(text: string): ErrorReason {
  return text in errorStatus ? (text as ErrorReason) : 'Internal'
}

/** One pull request, as far as a call names it. */
function nameOf({ pr_number, repo_url = '', task_name = '' }: Record<string, unknown>): string {
  return JSON.stringify([pr_number, repo_url, task_name])
}

const reading: readonly string[] = ['review_pull_request', 'check_pr_review_marker'] satisfies CodeHostTool[]

async function run(
  tool: CodeHostTool,
  args: JsonObject,
  { codeHost, call, waited, park, readHeads }: CodeHostToolContext,
) {
  const about = nameOf(args)
  const readHead = tool === 'post_review_comment' ? readHeads.get(about) : undefined
  const { result, wait, refused } = await codeHost.call({ tool, call, args, until: waited?.until, readHead })
  if (refused !== undefined) throw new SvcError(readReason(refused.reason), refused.message)
  if (wait !== undefined) park(wait)
  if (reading.includes(tool) && typeof result?.head_sha === 'string') readHeads.set(about, result.head_sha)
  return { success: true as const, ...result }
}

type Shown = { description: string; parameters: z.ZodObject; repeatable: boolean; long?: true }

function define(name: CodeHostTool, { long, ...shown }: Shown): ModelTool<CodeHostToolContext> {
  return defineTool({
    name,
    ...shown,
    ...(long && { ownsOutputLimit: true }),
    run: (args, context: CodeHostToolContext) => run(name, args as JsonObject, context),
  })
}

/** Every tool; which ones a task has is decided by the service. */
export const codeHostTools: readonly ModelTool<CodeHostToolContext>[] = [
  define('create_pull_request', {
    description:
      'Opens a pull request for a branch that has been pushed; an open one of the same branches is returned.',
    parameters: CreatePullRequest,
    repeatable: true,
  }),
  define('check_pull_request_ci', {
    description:
      'Tells how far the checks of a pull request are. With wait_timeout it waits for their end; you need not ask again and again.',
    parameters: CheckPullRequestCi,
    repeatable: true,
  }),
  define('list_pull_requests', {
    description: 'Lists open pull requests, newest first, with the commit at the head of each.',
    parameters: ListPullRequests,
    repeatable: true,
    long: true,
  }),
  define('check_pr_review_marker', {
    description:
      'Tells whether this head of a pull request has been reviewed already, and returns the hidden marker to put, unchanged, into the body of the review that you post.',
    parameters: CheckPrReviewMarker,
    repeatable: true,
  }),
  define('merge_pull_request', {
    description: 'Merges a pull request whose checks have all passed.',
    parameters: MergePullRequest,
    repeatable: false,
  }),
  define('auto_merge_pull_request', {
    description: 'Waits for the checks of a pull request and merges it when all have passed.',
    parameters: AutoMergePullRequest,
    repeatable: true,
  }),
  define('review_pull_request', {
    description:
      'Returns what you need to review a pull request: its description, its diff and its files. It posts nothing.',
    parameters: ReviewPullRequest,
    repeatable: true,
    long: true,
  }),
  define('post_review_comment', {
    description:
      'Posts a review of a pull request. It is marked with the head that it is about, and refused when the head has moved since you read it.',
    parameters: PostReviewComment,
    repeatable: true,
  }),
  define('list_issues', {
    description:
      'Lists open issues, newest first; without those that somebody is assigned to unless unassigned_only is false.',
    parameters: ListIssues,
    repeatable: true,
    long: true,
  }),
  define('get_issue', {
    description: 'Returns an issue with its comments.',
    parameters: GetIssue,
    repeatable: true,
    long: true,
  }),
  define('comment_on_issue', {
    description: 'Posts a comment on an issue.',
    parameters: CommentOnIssue,
    repeatable: false,
  }),
]
