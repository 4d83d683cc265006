// Reviews of pull requests and the conversations on their lines.
import type { CodeHost, LineComment, ReviewThread } from '../ports/codehost/code-host.ts'
import type { Calls } from './calls.ts'
import { toReview } from './shapes.ts'

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

const mostPages = 20

export function createReviewCalls(calls: Calls): ReviewCalls {
  const { owner, name } = calls.repository
  return {
    listReviews: (number) =>
      calls.getAll('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { pull_number: number }, (list) =>
        list.map(toReview),
      ),
    postReview(number, { event, body, commit, comments = [] }) {
      const given = {
        pull_number: number,
        event,
        body,
        commit_id: commit,
        ...(comments.length > 0 && { comments: comments.map(toWire) }),
      }
      return calls.send('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', given, toReview)
    },
    async listReviewThreads(number) {
      const found: ReviewThread[] = []
      let after: string | null = null
      for (let page = 1; page <= mostPages; page += 1) {
        const list: ThreadList = await calls.query(threads, { owner, name, number, after }, toThreadList)
        found.push(...list.threads)
        if (list.next === undefined) break
        after = list.next
      }
      return found
    },
  }
}
