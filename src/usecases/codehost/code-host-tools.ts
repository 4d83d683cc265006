// Runs the tools of the code host for running tasks: which ones the task has, then which repository, then the login.
import {
  type CodeHostAnswer,
  type CodeHostArguments,
  type CodeHostCall,
  type CodeHostTool,
  codeHostArguments,
} from '../../contract/api/codehost/code-host-tools.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { parseOrThrow } from '../../contract/schema/validation.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import { openCodeHost } from '../../lookup/logins.ts'
import { readMarkerSettings } from '../../lookup/service-secrets.ts'
import { type Comment, type Issue, isCodeHostError, type PullRequestDetails } from '../../ports/codehost/code-host.ts'
import type { WorkerIdentity } from '../../ports/identity/identity.ts'
import type { Probe, ProbeAnswer } from '../../ports/tasks/parking.ts'
import { type ChecksVerdict, judgeChecks, listCodeHostTools } from '../../rules/codehost/tools.ts'
import { chooseTools } from '../../rules/tools/choice.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { requireRunningTask, type TaskPath } from '../tasks/worker/live-attempt.ts'
import {
  answer,
  answerForeign,
  type CodeHostContext,
  type CodeHostResult,
  cut,
  findScope,
  type ScopeRequest,
} from './code-host-context.ts'
import {
  autoMergePullRequest,
  createPullRequest,
  endOfWait,
  listPullRequests,
  mergePullRequest,
  waitForChecks,
} from './pull-request-tools.ts'
import { checkReviewMarker, postReviewComment, reviewPullRequest } from './review-tools.ts'

const shownBody = 500
const maxBodyLength = 60_000
const shownComments = 30

function describeIssue(issue: Issue, maxLength: number) {
  const { number, title, body, author, labels, createdAt, url } = issue
  return { number, title, body: cut(body, maxLength), author, labels, created_at: createdAt, html_url: url }
}

async function listIssues(
  { host }: CodeHostContext,
  { page, per_page: perPage, unassigned_only: unassignedOnly }: CodeHostArguments['list_issues'],
): Promise<CodeHostResult> {
  const { issues, hasNextPage } = await host.listIssuePage({ page, perPage, unassignedOnly })
  const shown = issues.map((issue) => describeIssue(issue, shownBody))
  return answerForeign({ issues: shown, count: shown.length, has_next_page: hasNextPage })
}

function showComment({ author, body, createdAt }: Comment) {
  return { author, body: cut(body, maxBodyLength / shownComments), created_at: createdAt }
}

async function getIssue(
  { host }: CodeHostContext,
  { issue_number: number }: CodeHostArguments['get_issue'],
): Promise<CodeHostResult> {
  const issue = await host.getIssue(number)
  const comments = await host.listComments(number)
  const { state, assignees, commentCount } = issue
  return answerForeign({
    ...describeIssue(issue, maxBodyLength),
    assignees,
    state,
    comment_count: commentCount,
    comments: comments.slice(-shownComments).map(showComment),
  })
}

async function commentOnIssue(
  { host }: CodeHostContext,
  { issue_number: number, body }: CodeHostArguments['comment_on_issue'],
): Promise<CodeHostResult> {
  const comment = await host.createComment(number, body)
  return answer({ comment_id: comment.id, html_url: comment.url, status: 'created' })
}

type Run<T extends CodeHostTool> = (context: CodeHostContext, args: CodeHostArguments[T]) => Promise<CodeHostResult>

const runs: { [T in CodeHostTool]: Run<T> } = {
  create_pull_request: createPullRequest,
  check_pull_request_ci: checkPullRequestCi,
  list_pull_requests: listPullRequests,
  check_pr_review_marker: checkReviewMarker,
  merge_pull_request: mergePullRequest,
  auto_merge_pull_request: autoMergePullRequest,
  review_pull_request: reviewPullRequest,
  post_review_comment: postReviewComment,
  list_issues: listIssues,
  get_issue: getIssue,
  comment_on_issue: commentOnIssue,
}

export type WorkerCodeHost = {
  /**
   * Forbidden for a task other than the token's own and for an attempt that is not live. Why the tool was refused, and what the code
   * host refused, are part of the answer.
   */
  callCodeHost(identity: WorkerIdentity, path: TaskPath, call: CodeHostCall): Promise<CodeHostAnswer>
}

type Deps = Pick<UsecaseDeps, 'ports'> & { settings: Pick<UsecaseDeps['settings'], 'reviewMarkers' | 'contextMode'> }

/** Forbidden for a tool that the task does not have: what a worker offers its model is not taken on trust. */
async function requireOffered({ ports, settings }: Deps, task: Task, tool: CodeHostTool): Promise<void> {
  const { name, namespace = task.metadata.namespace } = task.spec.agentRef ?? {}
  const agent = name === undefined ? undefined : await ports.resources.get('Agent', { namespace, name })
  const offered = listCodeHostTools(task, agent, chooseTools(task, agent).builtIn, settings.contextMode)
  if (!offered.includes(tool))
    throw new SvcError('Forbidden', `task "${task.metadata.name}" does not have the tool ${tool}`)
}

async function openContext(
  { ports, settings }: Deps,
  task: Task,
  { call, scope, signal }: { call: Omit<CodeHostCall, 'args' | 'tool'>; scope: ScopeRequest; signal?: AbortSignal },
): Promise<CodeHostContext> {
  const { repository, secret, owner } = await findScope(ports, task, scope)
  const host = openCodeHost(ports, { repository, secret, owner, ...(signal && { signal }) })
  const read = () => {
    if (settings.reviewMarkers !== undefined) return readMarkerSettings(ports, task, settings.reviewMarkers)
    throw new SvcError('NotConfigured', 'this service has no key that marks reviews')
  }
  return {
    host,
    repository,
    now: () => ports.clock.now(),
    call: call.call,
    until: call.until,
    readHead: call.readHead,
    markerKeys: async () => (await read()).keys,
    trustedAuthor: async () => (await read()).trustedAuthor ?? (await host.getLogin().catch(() => undefined)),
  }
}

async function runTool<T extends CodeHostTool>(deps: Deps, task: Task, call: CodeHostCall & { tool: T }) {
  const { tool } = call
  await requireOffered(deps, task, tool)
  const args = parseOrThrow(codeHostArguments[tool], call.args, `the arguments of ${tool}`) as CodeHostArguments[T]
  const context = await openContext(deps, task, { call, scope: args })
  return (runs[tool] as Run<T>)(context, args)
}

export function createWorkerCodeHost(deps: Deps): WorkerCodeHost {
  return {
    async callCodeHost(identity, path, call) {
      const task = await requireRunningTask(deps.ports.resources, identity, path)
      try {
        return await runTool(deps, task, call)
      } catch (error) {
        // An answer, not a failure of the service: the worker does not repeat the call.
        if (!isSvcError(error) || error.reason === 'Internal') throw error
        return { refused: { reason: error.reason, message: error.message } }
      }
    },
  }
}

/** Whether the checks that a parked task waits for have ended; also where that cannot be known any more. */
export async function askForChecks(
  deps: Deps,
  { task, args }: Parameters<Probe>[0],
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  try {
    const wanted = codeHostArguments.check_pull_request_ci.parse(args)
    const context = await openContext(deps, task, { call: { call: 'probe' }, scope: wanted, signal })
    const { result } = await checkPullRequestCi(context, wanted)
    return result?.status === 'pending' || result?.status === 'no_checks' ? 'waiting' : 'arrived'
  } catch (error) {
    if (isCodeHostError(error, 'HeldUp') || isCodeHostError(error, 'Unreachable')) throw error
    return 'arrived'
  }
}

type Args = CodeHostArguments['check_pull_request_ci']

const words: Record<ChecksVerdict['status'], string> = {
  passed: 'all checks have passed',
  failed: 'checks have failed',
  pending: 'checks are still running',
  no_checks: 'there are no checks for this head',
}

function describe(pull: PullRequestDetails, { status, passed, failed, pending, details }: ChecksVerdict): JsonObject {
  return {
    status,
    pr_number: pull.number,
    head_sha: pull.head.commit,
    checks_passed: passed,
    checks_failed: failed,
    checks_pending: pending,
    ...(details.length > 0 && { checks_details: details }),
    message: words[status],
  }
}

function describeEnd(pull: PullRequestDetails): JsonObject {
  const status = pull.merged ? 'merged' : 'closed'
  const counts = { checks_passed: 0, checks_failed: 0, checks_pending: 0 }
  return {
    status,
    pr_number: pull.number,
    head_sha: pull.head.commit,
    ...counts,
    message: `the pull request is ${status}`,
  }
}

/** What can be said now; `open`: waiting may change it. */
async function look({ host }: CodeHostContext, number: number): Promise<{ result: JsonObject; open: boolean }> {
  const pull = await host.getPullRequest(number)
  if (pull.state !== 'open') return { result: describeEnd(pull), open: false }
  const verdict = judgeChecks(await host.listChecks(pull.head.commit))
  return { result: describe(pull, verdict), open: verdict.status === 'pending' || verdict.status === 'no_checks' }
}

/** A code host that cannot be asked right now is asked again while there is time. */
async function lookWithRetries(context: CodeHostContext, number: number, hasTime: boolean) {
  try {
    return await look(context, number)
  } catch (error) {
    if (!isCodeHostError(error, 'HeldUp') && !isCodeHostError(error, 'Unreachable')) throw error
    if (!hasTime && context.until === undefined) throw error
    const counts = { checks_passed: 0, checks_failed: 0, checks_pending: 0 }
    return { result: { status: 'unknown', pr_number: number, ...counts, message: error.message }, open: true }
  }
}

export async function checkPullRequestCi(context: CodeHostContext, args: Args): Promise<CodeHostResult> {
  const { pr_number: number, wait_timeout: timeout, poll_interval: every } = args
  const until = timeout === undefined ? undefined : endOfWait(context, timeout)
  const hasTime = until !== undefined && Date.parse(until) > context.now().getTime()
  const { result, open } = await lookWithRetries(context, number, hasTime)
  if (!open || until === undefined) return answer(result)
  if (hasTime) return waitForChecks(context, args, { every, until })
  return answer({ ...result, wait_timed_out: true })
}
