// Listing, making and merging pull requests for a model.
import type { CodeHostArguments } from '../../contract/api/codehost/code-host-tools.ts'
import { parseDuration } from '../../contract/values/duration.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isCodeHostError, type PullRequest, type PullRequestDetails } from '../../ports/codehost/code-host.ts'
import { type ChecksVerdict, judgeChecks } from '../../rules/codehost/tools.ts'
import { answer, answerForeign, type CodeHostContext, type CodeHostResult, cut } from './code-host-context.ts'

const shownBody = 500

function describe(pull: PullRequest): JsonObject {
  return {
    number: pull.number,
    title: pull.title,
    body: cut(pull.body, shownBody),
    author: pull.author,
    base_branch: pull.base.branch,
    head_branch: pull.head.branch,
    head_sha: pull.head.commit,
    labels: pull.labels,
    created_at: pull.createdAt,
    html_url: pull.url,
    draft: pull.draft,
    fork: pull.fork,
  }
}

export async function listPullRequests(
  { host }: CodeHostContext,
  { page, per_page: perPage }: CodeHostArguments['list_pull_requests'],
): Promise<CodeHostResult> {
  const pulls = await host.listPullRequestPage({ page, perPage })
  return answerForeign({
    pull_requests: pulls.map(describe),
    total_count: pulls.length,
    has_next_page: pulls.length === perPage,
  })
}

export async function createPullRequest(
  { host }: CodeHostContext,
  { head_branch, base_branch, title, body }: CodeHostArguments['create_pull_request'],
): Promise<CodeHostResult> {
  const draft = { head: head_branch, base: base_branch, title, ...(body !== undefined && { body }) }
  const { pullRequest, created } = await host.createPullRequest(draft)
  return answer({
    pr_url: pullRequest.url,
    pr_number: pullRequest.number,
    status: created ? 'created' : 'existing',
  })
}

type Merge = CodeHostArguments['merge_pull_request']

function mergeAt({ host }: CodeHostContext, pull: PullRequest, args: Merge) {
  const { merge_method: method, commit_title: title, commit_message: message } = args
  const words = { ...(title !== undefined && { title }), ...(message !== undefined && { message }) }
  return host.merge(pull.number, { method, head: pull.head.commit, ...words })
}

function explainOpen({ details }: ChecksVerdict): string {
  return details.length === 0 ? 'it has no checks' : `its checks have not passed: ${details.join(', ')}`
}

export async function mergePullRequest(context: CodeHostContext, args: Merge): Promise<CodeHostResult> {
  const pull = await context.host.getPullRequest(args.pr_number)
  if (pull.state !== 'open') {
    return answer({
      merged: pull.merged,
      checks_passed: false,
      message: `it is ${pull.merged ? 'merged' : 'closed'} already`,
    })
  }
  const verdict = judgeChecks(await context.host.listChecks(pull.head.commit))
  if (verdict.status !== 'passed') return answer({ merged: false, checks_passed: false, message: explainOpen(verdict) })
  const { commit, message } = await mergeAt(context, pull, args)
  return answer({ sha: commit, merged: true, message, checks_passed: true })
}

type AutoMerge = CodeHostArguments['auto_merge_pull_request']

/** The name under which the service looks at checks for parked tasks. */
export const checksProbe = 'pull-request-checks'

type ChecksWait = { pr_number: number; task_name?: string | undefined; repo_url?: string | undefined }

/** Parks the task until the checks have ended, or the time has come. */
export function waitForChecks(
  { call }: CodeHostContext,
  { pr_number, task_name, repo_url }: ChecksWait,
  { every, until }: { every: string; until: string },
): CodeHostResult {
  const args = { pr_number, ...(task_name !== undefined && { task_name }), ...(repo_url !== undefined && { repo_url }) }
  const what = `the checks of pull request ${pr_number}`
  return { wait: { kind: 'probe', probe: checksProbe, call, what, args, every, until } }
}

/** When a wait ends: as it was said before, or this long from now. */
export function endOfWait({ until, now }: CodeHostContext, timeout: string): string {
  return until ?? new Date(now().getTime() + parseDuration(timeout)).toISOString()
}

function describeEnd(pull: PullRequestDetails): JsonObject {
  const outcome = pull.merged ? 'already_merged' : 'closed'
  return { merged: pull.merged, checks_passed: false, outcome, message: `it is ${pull.merged ? 'merged' : 'closed'}` }
}

async function mergeOnce(context: CodeHostContext, pull: PullRequest, args: AutoMerge): Promise<CodeHostResult> {
  try {
    const { commit, message } = await mergeAt(context, pull, args)
    return answer({ merged: true, checks_passed: true, sha: commit, message, outcome: 'merged' })
  } catch (error) {
    // The answer to an earlier merge may have been lost.
    const now = isCodeHostError(error)
      ? await context.host.getPullRequest(pull.number).catch(() => undefined)
      : undefined
    if (now?.merged === true) return answer(describeEnd(now))
    throw error
  }
}

export async function autoMergePullRequest(context: CodeHostContext, args: AutoMerge): Promise<CodeHostResult> {
  const pull = await context.host.getPullRequest(args.pr_number)
  if (pull.state !== 'open') return answer(describeEnd(pull))
  const verdict = judgeChecks(await context.host.listChecks(pull.head.commit))
  if (verdict.status === 'passed') return mergeOnce(context, pull, args)
  const details = { merged: false, checks_passed: false, checks_details: verdict.details }
  if (verdict.status === 'failed') return answer({ ...details, outcome: 'ci_failed', message: explainOpen(verdict) })
  const until = endOfWait(context, args.timeout)
  if (Date.parse(until) > context.now().getTime()) return waitForChecks(context, args, { every: '30s', until })
  return answer({ ...details, outcome: 'timeout', message: `after ${args.timeout} ${explainOpen(verdict)}` })
}
