// Reading a pull request, and posting a review that is marked with the head that it is about.
import type { CodeHostArguments } from '../../contract/api/codehost/code-host-tools.ts'
import { SvcError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import {
  type CodeHost,
  isCodeHostError,
  type PullRequestDetails,
  type PullRequestFile,
  type Review,
  type ReviewDraft,
} from '../../ports/codehost/code-host.ts'
import { findMarked, isMarkerOf, listMarkers, readMarkedHead, writeMarker } from '../../rules/monitors/review-marker.ts'
import { answer, answerForeign, type CodeHostContext, type CodeHostResult, cut } from './code-host-context.ts'

type MarkerArgs = CodeHostArguments['check_pr_review_marker']

/** The head that is asked about; undefined with a reason when the pull request is no longer open. */
async function chooseHead(
  host: CodeHost,
  { pr_number, head_sha }: MarkerArgs,
): Promise<{ head: string } | { message: string }> {
  if (head_sha !== undefined) return { head: head_sha.toLowerCase() }
  const pull = await host.getPullRequest(pr_number)
  if (pull.state === 'open') return { head: pull.head.commit }
  return { message: `the pull request is ${pull.merged ? 'merged' : 'closed'}: there is nothing to review` }
}

export async function checkReviewMarker(context: CodeHostContext, args: MarkerArgs): Promise<CodeHostResult> {
  const { host, repository, trustedAuthor } = context
  const number = args.pr_number
  const chosen = await chooseHead(host, args)
  if ('message' in chosen) return answer({ found: false, pr_number: number, message: chosen.message })
  const reviewed = { repository, number, head: chosen.head }
  const keys = await context.markerKeys()
  const found = await findMarked(await host.listReviews(number), { reviewed, keys, trustedAuthor })
  const marker = { pr_number: number, head_sha: chosen.head, marker: writeMarker(reviewed, keys) }
  if (found === undefined) {
    const message = 'this head has no review yet: put the marker, unchanged, into the body of the one that you post'
    return answer({ found: false, ...marker, message })
  }
  const where = { source: 'review', html_url: found.url, author: found.author }
  return answer({ found: true, ...marker, ...where, message: 'this head has been reviewed already: post nothing' })
}

const shownDiff = 100_000
const shownPatches = 60_000
const shownFiles = 500

/** Patches up to a limit; every file is named. */
function describeFiles(files: readonly PullRequestFile[]): JsonObject[] {
  let left = shownPatches
  return files.slice(0, shownFiles).map(({ path, status, additions, deletions, patch }) => {
    const fits = patch !== undefined && patch.length <= left
    if (fits) left -= patch.length
    return { filename: path, status, additions, deletions, ...(fits && { patch }) }
  })
}

/** Large diffs are not made by the code host: the patches of files are there still. */
async function readDiff(host: CodeHost, number: number): Promise<string | undefined> {
  try {
    return await host.getDiff(number)
  } catch (error) {
    if (isCodeHostError(error, 'TooLarge')) return undefined
    throw error
  }
}

export async function reviewPullRequest(
  { host }: CodeHostContext,
  { pr_number: number }: CodeHostArguments['review_pull_request'],
): Promise<CodeHostResult> {
  const pull = await host.getPullRequest(number)
  const [files, diff] = await Promise.all([host.listFiles(number), readDiff(host, number)])
  const isWhole = diff !== undefined && diff.length <= shownDiff
  return answerForeign({
    pr_title: pull.title,
    pr_body: cut(pull.body, shownPatches),
    pr_author: pull.author,
    base_branch: pull.base.branch,
    head_branch: pull.head.branch,
    head_sha: pull.head.commit,
    diff: cut(diff ?? '', shownDiff),
    ...(!isWhole && { diff_truncated: true }),
    files: describeFiles(files),
    files_total: Math.max(files.length, pull.changedFiles),
    status: 'fetched',
  })
}

type PostArgs = CodeHostArguments['post_review_comment']

function refuseMoved(from: string, to: string): never {
  throw new SvcError(
    'Conflict',
    `the head has moved from ${from} to ${to} since you read it: call review_pull_request and check_pr_review_marker again`,
  )
}

/** The body with exactly one marker, of exactly this head. */
async function markBody(
  context: CodeHostContext,
  { number, head }: PullRequestDetails & { number: number; head: { commit: string } },
  body: string,
) {
  const { repository, readHead } = context
  const keys = await context.markerKeys()
  const reviewed = { repository, number, head: head.commit }
  const markers = listMarkers(body)
  for (const marker of markers) {
    if (isMarkerOf(marker, reviewed, keys)) continue
    const marked = readMarkedHead(marker, reviewed, keys)
    if (marked !== undefined) refuseMoved(marked, head.commit)
    throw new SvcError(
      'InvalidRequest',
      'body has a marker that was not signed for this pull request: use the one of check_pr_review_marker, unchanged',
    )
  }
  if (markers.length > 0) return body
  if (readHead !== undefined && readHead !== head.commit) refuseMoved(readHead, head.commit)
  return `${body}\n\n${writeMarker(reviewed, keys)}`
}

async function findPosted(host: CodeHost, number: number, { body, commit }: ReviewDraft): Promise<Review | undefined> {
  const reviews = await host.listReviews(number)
  return reviews.find((review) => review.commit === commit && review.body.trim() === body.trim())
}

/** The same review once, also when the answer to an earlier post was lost. */
async function postOnce(host: CodeHost, number: number, draft: ReviewDraft): Promise<Review> {
  const before = await findPosted(host, number, draft)
  if (before !== undefined) return before
  try {
    return await host.postReview(number, draft)
  } catch (error) {
    const posted = isCodeHostError(error, 'Unreachable') ? await findPosted(host, number, draft) : undefined
    if (posted === undefined) throw error
    return posted
  }
}

export async function postReviewComment(context: CodeHostContext, args: PostArgs): Promise<CodeHostResult> {
  const { pr_number: number, event, comments = [] } = args
  const pull = await context.host.getPullRequest(number)
  if (pull.state !== 'open') throw new SvcError('Conflict', `pull request ${number} is no longer open`)
  const body = await markBody(context, pull, args.body)
  const review = await postOnce(context.host, number, { event, body, commit: pull.head.commit, comments })
  return answer({ review_id: review.id, status: 'submitted', html_url: review.url })
}
