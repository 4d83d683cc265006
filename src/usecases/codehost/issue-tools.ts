// Issues for a model: only for agents that name these tools.
import type { CodeHostArguments } from '../../contract/api/codehost/code-host-tools.ts'
import type { Comment, Issue } from '../../ports/codehost/code-host.ts'
import { answer, answerForeign, type CodeHostContext, type CodeHostResult, cut } from './code-host-context.ts'

const shownBody = 500
const maxBodyLength = 60_000
const shownComments = 30

function describe(issue: Issue, maxLength: number) {
  const { number, title, body, author, labels, createdAt, url } = issue
  return { number, title, body: cut(body, maxLength), author, labels, created_at: createdAt, html_url: url }
}

export async function listIssues(
  { host }: CodeHostContext,
  { page, per_page: perPage, unassigned_only: unassignedOnly }: CodeHostArguments['list_issues'],
): Promise<CodeHostResult> {
  const { issues, hasNextPage } = await host.listIssuePage({ page, perPage, unassignedOnly })
  const shown = issues.map((issue) => describe(issue, shownBody))
  return answerForeign({ issues: shown, count: shown.length, has_next_page: hasNextPage })
}

function showComment({ author, body, createdAt }: Comment) {
  return { author, body: cut(body, maxBodyLength / shownComments), created_at: createdAt }
}

export async function getIssue(
  { host }: CodeHostContext,
  { issue_number: number }: CodeHostArguments['get_issue'],
): Promise<CodeHostResult> {
  const issue = await host.getIssue(number)
  const comments = await host.listComments(number)
  const { state, assignees, commentCount } = issue
  return answerForeign({
    ...describe(issue, maxBodyLength),
    assignees,
    state,
    comment_count: commentCount,
    comments: comments.slice(-shownComments).map(showComment),
  })
}

export async function commentOnIssue(
  { host }: CodeHostContext,
  { issue_number: number, body }: CodeHostArguments['comment_on_issue'],
): Promise<CodeHostResult> {
  const comment = await host.createComment(number, body)
  return answer({ comment_id: comment.id, html_url: comment.url, status: 'created' })
}
