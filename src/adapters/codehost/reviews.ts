// Reviews of pull requests and the conversations on their lines.
import type { CodeHost, LineComment, ReviewThread } from '../../ports/code-host.ts'
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
type ThreadAnswer = { repository: { pullRequest: { reviewThreads: ThreadPage } | null } | null }

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
    async postReview(number, { event, body, commit, comments = [] }) {
      const made = await calls.send('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews', {
        pull_number: number,
        event,
        body,
        commit_id: commit,
        ...(comments.length > 0 && { comments: comments.map(toWire) }),
      })
      return toReview(made)
    },
    async listReviewThreads(number) {
      const found: ReviewThread[] = []
      let after: string | null = null
      for (let page = 1; page <= mostPages; page += 1) {
        const answer: ThreadAnswer = await calls.graphql<ThreadAnswer>(threads, { owner, name, number, after })
        const list: ThreadPage | undefined = answer.repository?.pullRequest?.reviewThreads
        found.push(...(list?.nodes ?? []).map(toThread))
        if (list?.pageInfo.hasNextPage !== true) break
        after = list.pageInfo.endCursor
      }
      return found
    },
  }
}
