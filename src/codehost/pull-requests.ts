// Pull requests: finding, reading, making and merging them.
import {
  type CodeHost,
  isCodeHostError,
  type LineComment,
  type MergeDraft,
  type PullRequest,
  type PullRequestDraft,
  type ReviewThread,
} from '../ports/codehost/code-host.ts'
import type { Calls } from './calls.ts'
import {
  toCheckRun,
  toFile,
  toMerged,
  toNodeId,
  toPullRequest,
  toPullRequestDetails,
  toReview,
  toStatusCheck,
} from './shapes.ts'

const pulls = 'GET /repos/{owner}/{repo}/pulls'
const pull = 'GET /repos/{owner}/{repo}/pulls/{pull_number}'

type PullRequestCalls = Pick<
  CodeHost,
  | 'listPullRequests'
  | 'listPullRequestPage'
  | 'getPullRequest'
  | 'findPullRequests'
  | 'createPullRequest'
  | 'listFiles'
  | 'getDiff'
  | 'listChecks'
  | 'merge'
  | 'enableAutoMerge'
>

const enableAutoMerge = `mutation ($id: ID!, $method: PullRequestMergeMethod!, $head: GitObjectID, $title: String, $message: String) {
  enablePullRequestAutoMerge(input: { pullRequestId: $id, mergeMethod: $method, expectedHeadOid: $head, commitHeadline: $title, commitBody: $message }) {
    clientMutationId
  }
}`

export function createPullRequestCalls(calls: Calls): PullRequestCalls {
  async function findPullRequests({ head, base, open = false }: { head: string; base?: string; open?: boolean }) {
    const named = head.includes(':') ? head : `${calls.repository.owner}:${head}`
    const parameters = {
      head: named,
      ...(base !== undefined && { base }),
      state: open ? 'open' : 'all',
      sort: 'created',
    } as const
    return calls.getAll(pulls, { ...parameters, direction: 'desc' }, (list) => list.map(toPullRequest))
  }

  async function findExisting({ head, base }: PullRequestDraft, refused: unknown): Promise<PullRequest> {
    const [existing] = await findPullRequests({ head, base, open: true })
    if (existing === undefined) throw refused
    return existing
  }

  async function readNodeId(number: number): Promise<string> {
    return calls.get(pull, { pull_number: number }, toNodeId)
  }

  return {
    findPullRequests,
    listPullRequests: ({ base } = {}) =>
      calls.getSettled(
        pulls,
        { state: 'open', sort: 'created', direction: 'asc', ...(base !== undefined && { base }) },
        (list) => list.map(toPullRequest),
      ),
    async listPullRequestPage({ page, perPage }) {
      const parameters = { state: 'open', sort: 'created', direction: 'desc', page, per_page: perPage } as const
      return (await calls.getPage(pulls, parameters, (list) => list.map(toPullRequest))).values
    },
    getPullRequest: (number) => calls.get(pull, { pull_number: number }, toPullRequestDetails),
    async createPullRequest(draft) {
      try {
        const pullRequest = await calls.send('POST /repos/{owner}/{repo}/pulls', draft, toPullRequest)
        return { pullRequest, created: true }
      } catch (error) {
        // Refused because there is one already, or sent and the answer lost.
        if (!isCodeHostError(error, 'Invalid') && !isCodeHostError(error, 'Unreachable')) throw error
        return { pullRequest: await findExisting(draft, error), created: false }
      }
    },
    listFiles: (number) =>
      calls.getAll('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', { pull_number: number }, (list) =>
        list.map(toFile),
      ),
    getDiff: (number) => calls.getText(pull, { pull_number: number }, 'application/vnd.github.diff'),
    async listChecks(commit) {
      const [runs, statuses] = await Promise.all([
        calls.getAll('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ref: commit }, (data) =>
          data.check_runs.map(toCheckRun),
        ),
        calls.getAll('GET /repos/{owner}/{repo}/commits/{ref}/status', { ref: commit }, (data) =>
          data.statuses.map(toStatusCheck),
        ),
      ])
      return [...runs, ...statuses]
    },
    merge(number, { method, head, title, message }: MergeDraft) {
      const parameters = {
        pull_number: number,
        merge_method: method,
        sha: head,
        ...(title !== undefined && { commit_title: title }),
        ...(message !== undefined && { commit_message: message }),
      }
      return calls.send('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', parameters, toMerged)
    },
    async enableAutoMerge(number, { method, head, title, message }: MergeDraft) {
      const id = await readNodeId(number)
      await calls.mutate(enableAutoMerge, { id, method: method.toUpperCase(), head, title, message })
    },
  }
}

// Reviews of pull requests and the conversations on their lines.

type ReviewCalls = Pick<CodeHost, 'listReviews' | 'postReview' | 'listReviewThreads'>

/** One call for a hundred conversations; the REST interface lists neither conversations nor whether they are closed. */
const threads = `query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          isResolved
          path
          line
          comments(first: 50) { nodes { databaseId body url createdAt author { login } } }
        }
      }
    }
  }
}`

type ThreadNode = {
  isResolved: boolean
  path: string
  line: number | null
  comments: {
    nodes: { databaseId: number; body: string; url: string; createdAt: string; author: { login: string } | null }[]
  }
}
type ThreadPage = { pageInfo: { hasNextPage: boolean; endCursor: string | null }; nodes: ThreadNode[] }
type ThreadAnswer = { repository: { pullRequest: { reviewThreads: ThreadPage } } }
type ThreadList = { threads: ReviewThread[]; next: string | undefined }

function toThread({ isResolved, path, line, comments }: ThreadNode): ReviewThread {
  return {
    path,
    line: line ?? undefined,
    resolved: isResolved,
    comments: comments.nodes.map(({ databaseId: id, author, ...rest }) => ({
      id,
      author: author?.login ?? 'ghost',
      ...rest,
    })),
  }
}

function toThreadList({ repository }: ThreadAnswer): ThreadList {
  const { nodes, pageInfo } = repository.pullRequest.reviewThreads
  return { threads: nodes.map(toThread), next: (pageInfo.hasNextPage && pageInfo.endCursor) || undefined }
}

function toWire({ path, line, startLine, side = 'RIGHT', body }: LineComment) {
  return { path, line, side, body, ...(startLine !== undefined && { start_line: startLine, start_side: side }) }
}

const maxPages = 20

export function createReviewCalls(calls: Calls): ReviewCalls {
  const { owner, name } = calls.repository
  return {
    listReviews: (number) =>
      calls.getAll('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { pull_number: number }, (list) =>
        list.map(toReview),
      ),
    postReview(number, { event, body, commit, comments = [] }) {
      const parameters = {
        pull_number: number,
        event,
        body,
        commit_id: commit,
        ...(comments.length > 0 && { comments: comments.map(toWire) }),
      }
      return calls.send('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', parameters, toReview)
    },
    async listReviewThreads(number) {
      const found: ReviewThread[] = []
      let after: string | null = null
      for (let page = 1; page <= maxPages; page += 1) {
        const list: ThreadList = await calls.query(threads, { owner, name, number, after }, toThreadList)
        found.push(...list.threads)
        if (list.next === undefined) break
        after = list.next
      }
      return found
    },
  }
}
