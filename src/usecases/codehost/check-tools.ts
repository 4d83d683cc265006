// How far the checks of a pull request are, for a model that may wait for them without a process.
import type { CodeHostArguments } from '../../contract/api/codehost/code-host-tools.ts'
import type { JsonObject } from '../../contract/schema/json.ts'
import { isCodeHostError, type PullRequestDetails } from '../../ports/codehost/code-host.ts'
import { type ChecksVerdict, judgeChecks } from '../../rules/codehost/checks-verdict.ts'
import { answer, type CodeHostContext, type CodeHostResult } from './code-host-context.ts'
import { endOfWait, waitForChecks } from './pull-request-tools.ts'

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
async function lookPatiently(context: CodeHostContext, number: number, hasTime: boolean) {
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
  const { result, open } = await lookPatiently(context, number, hasTime)
  if (!open || until === undefined) return answer(result)
  if (hasTime) return waitForChecks(context, args, { every, until })
  return answer({ ...result, wait_timed_out: true })
}
