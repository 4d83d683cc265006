// What a running task asks of the code host: the arguments of its tools are what the route takes.
import { z } from 'zod'
import { Timestamp } from '../../kinds/resources/metadata.ts'
import { field } from '../../schema/field.ts'
import { limitedText } from '../../schema/text.ts'
import { PositiveDuration } from '../../values/duration.ts'
import { errorResponses, workerRoutes } from '../resources/route.ts'
import { ParkWait } from '../tasks/parking.ts'

const TaskName = limitedText(253).min(1)
const otherTask = field(
  TaskName.optional(),
  'Task whose repository is meant: this one, or one that it made. Without it: this one.',
  'lead-child-1a2b3c4d',
)
const requiredTask = field(TaskName, 'Task whose repository is meant: this one, or one that it made.', 'lead')
const repo_url = field(
  limitedText(2048).min(1).optional(),
  'Root address of the repository. Only the one of the task, or of its signed transaction.',
  'https://github.com/acme/site',
)
const pr_number = field(z.int().min(1), 'Number of the pull request.', 7)
const issue_number = field(z.int().min(1), 'Number of the issue.', 12)
const per_page = field(z.int().min(1).max(100).default(30), 'How many at most.', 30)
const page = field(z.int().min(1).default(1), 'Which page, from 1.', 1)
const branch = limitedText(255).min(1)
const maxTextLength = 65_536
const body = limitedText(maxTextLength, `must be at most ${maxTextLength} characters`)
const written = body.trim().min(1, 'must not be empty')
const merge_method = field(z.enum(['merge', 'squash', 'rebase']).default('squash'), 'How it is merged.', 'squash')
const commit_title = field(limitedText(1000).optional(), 'First line of the commit.', 'Add the page')
const commit_message = field(body.optional(), 'Rest of the message of the commit.', 'It was missing.')

/** Arguments of create_pull_request. */
export const CreatePullRequest = z.strictObject({
  task_name: otherTask,
  head_branch: field(branch, 'Branch with the change, which has been pushed.', 'svc/fix'),
  base_branch: field(branch, 'Branch that it is for.', 'main'),
  title: field(limitedText(1000).trim().min(1, 'must not be empty'), 'Title.', 'Fix the sum'),
  body: field(body.optional(), 'Description, in Markdown.', 'The sum left out the last line.'),
})

/** Arguments of check_pull_request_ci. */
export const CheckPullRequestCi = z.strictObject({
  pr_number,
  task_name: otherTask,
  repo_url,
  wait_timeout: field(PositiveDuration.optional(), 'Longest wait for checks to end. Without it: no wait.', '30m'),
  poll_interval: field(PositiveDuration.default('30s'), 'How often is looked meanwhile, at first.', '30s'),
})

/** Arguments of list_pull_requests. */
export const ListPullRequests = z.strictObject({ task_name: otherTask, repo_url, per_page, page })

/** Arguments of check_pr_review_marker. */
export const CheckPrReviewMarker = z.strictObject({
  pr_number,
  task_name: otherTask,
  repo_url,
  head_sha: field(
    z
      .string()
      .regex(/^[0-9a-fA-F]{40}([0-9a-fA-F]{24})?$/, 'must be a whole commit id')
      .optional(),
    'Head that would be reviewed. Without it: the present one.',
    '1f7a5d0c6b0e4a9bb5d1cf8f3a2e9d4c7b6a5f01',
  ),
})

/** Arguments of merge_pull_request. */
export const MergePullRequest = z.strictObject({
  task_name: requiredTask,
  pr_number,
  merge_method,
  commit_title,
  commit_message,
})

/** Arguments of auto_merge_pull_request. */
export const AutoMergePullRequest = z.strictObject({
  ...MergePullRequest.shape,
  timeout: field(PositiveDuration.default('30m'), 'Longest wait for its checks.', '30m'),
})

/** Arguments of review_pull_request. */
export const ReviewPullRequest = z.strictObject({ pr_number, task_name: otherTask, repo_url })

/** Arguments of post_review_comment. */
export const PostReviewComment = z.strictObject({
  pr_number,
  body: field(
    written.max(maxTextLength - 1000, `must be at most ${maxTextLength - 1000} characters`),
    'The review, in Markdown, with the marker of check_pr_review_marker in it.',
    'Looks good.',
  ),
  event: field(z.enum(['APPROVE', 'REQUEST_CHANGES', 'COMMENT']), 'The verdict.', 'COMMENT'),
  task_name: otherTask,
  repo_url,
  comments: field(
    z
      .array(
        z.strictObject({
          path: field(limitedText(4096).min(1), 'File of the diff.', 'src/sum.ts'),
          line: field(z.int().min(1), 'Line of the file as it is at the head; it must be in the diff.', 12),
          body: field(written, 'The comment, in Markdown.', 'This leaves out the last line.'),
        }),
      )
      .max(100)
      .optional(),
    'Comments on lines.',
    [{ path: 'src/sum.ts', line: 12, body: 'This leaves out the last line.' }],
  ),
})

/** Arguments of list_issues. */
export const ListIssues = z.strictObject({
  task_name: otherTask,
  repo_url,
  unassigned_only: field(z.boolean().default(true), 'Only those that nobody is assigned to.', true),
  per_page,
  page,
})

/** Arguments of get_issue. */
export const GetIssue = z.strictObject({ issue_number, task_name: otherTask, repo_url })

/** Arguments of comment_on_issue. */
export const CommentOnIssue = z.strictObject({
  issue_number,
  body: field(written, 'The comment, in Markdown.', 'I am working on it.'),
  task_name: otherTask,
  repo_url,
})

/** What each tool takes. */
export const codeHostArguments = {
  create_pull_request: CreatePullRequest,
  check_pull_request_ci: CheckPullRequestCi,
  list_pull_requests: ListPullRequests,
  check_pr_review_marker: CheckPrReviewMarker,
  merge_pull_request: MergePullRequest,
  auto_merge_pull_request: AutoMergePullRequest,
  review_pull_request: ReviewPullRequest,
  post_review_comment: PostReviewComment,
  list_issues: ListIssues,
  get_issue: GetIssue,
  comment_on_issue: CommentOnIssue,
} as const
/** Name of a tool of the code host. */
export type CodeHostTool = keyof typeof codeHostArguments
/** Arguments of each, as they have been checked. */
export type CodeHostArguments = { [T in CodeHostTool]: z.output<(typeof codeHostArguments)[T]> }

/** One call of a tool of the code host. */
export const CodeHostCall = z
  .strictObject({
    tool: field(
      z.enum(Object.keys(codeHostArguments) as [CodeHostTool, ...CodeHostTool[]]),
      'Name of the tool.',
      'get_issue',
    ),
    call: field(limitedText(256).min(1), 'The call, as a wait of it names it.', '3-call_1'),
    args: field(z.record(limitedText(64), z.unknown()), 'Its arguments.', { issue_number: 12 }),
    until: field(Timestamp.optional(), 'When the wait of this call ends, as an earlier answer said.'),
    readHead: field(limitedText(64).optional(), 'Head of the pull request that the model has been shown.', '1f7a5d0c'),
  })
  .meta({ id: 'CodeHostCall' })
export type CodeHostCall = z.infer<typeof CodeHostCall>

/** What came of it. */
export const CodeHostAnswer = z
  .object({
    result: field(z.record(z.string(), z.unknown()).optional(), 'The result for the model.', { status: 'created' }),
    wait: field(ParkWait.optional(), 'Present: the answer is not there yet, and the call is made again later.'),
    refused: field(
      z
        .object({
          reason: field(z.string(), 'Reason, as errors have it.', 'Forbidden'),
          message: field(z.string(), 'Why, and what to do.', 'the login may not do this'),
        })
        .optional(),
      'Present: it was not done.',
    ),
  })
  .meta({ id: 'CodeHostAnswer' })
export type CodeHostAnswer = z.infer<typeof CodeHostAnswer>

export const callCodeHost = workerRoutes.post('/code-host/:namespace/:taskName', {
  summary: 'Call a tool of the code host',
  description:
    'Runs one tool for the task, with the login of the repository that it works in, which stays in the service. What the code host refuses is part of the answer.',
  body: CodeHostCall,
  responses: { ...errorResponses(404), 200: { description: 'What came of it', schema: CodeHostAnswer } },
})
