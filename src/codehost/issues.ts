// Issues, and what pull requests share with them: comments, reactions, labels.
import { type CodeHost, isCodeHostError } from '../ports/codehost/code-host.ts'
import { type Calls, ignoreAnswer } from './calls.ts'
import { toComment, toIssue } from './shapes.ts'

type IssueCalls = Pick<
  CodeHost,
  | 'listIssuePage'
  | 'getIssue'
  | 'listComments'
  | 'createComment'
  | 'updateComment'
  | 'addReaction'
  | 'addLabels'
  | 'removeLabel'
>

export function createIssueCalls(calls: Calls): IssueCalls {
  return {
    async listIssuePage({ page, perPage, unassignedOnly }) {
      const parameters = { state: 'open', sort: 'created', direction: 'desc', page, per_page: perPage } as const
      const assignee = unassignedOnly ? { assignee: 'none' } : {}
      const { values, next } = await calls.getPage(
        'GET /repos/{owner}/{repo}/issues',
        { ...parameters, ...assignee },
        (list) => list.map(toIssue),
      )
      return { issues: values.filter(({ isPullRequest }) => !isPullRequest), hasNextPage: next }
    },
    getIssue: (number) =>
      calls.get('GET /repos/{owner}/{repo}/issues/{issue_number}', { issue_number: number }, toIssue),
    listComments: (number) =>
      calls.getAll('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { issue_number: number }, (list) =>
        list.map(toComment),
      ),
    createComment: (number, body) =>
      calls.send(
        'POST /repos/{owner}/{repo}/issues/{issue_number}/comments',
        { issue_number: number, body },
        toComment,
      ),
    updateComment: (id, body) =>
      calls.send('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { comment_id: id, body }, toComment),
    addReaction: ({ number, comment }, content) =>
      comment === undefined
        ? calls.send(
            'POST /repos/{owner}/{repo}/issues/{issue_number}/reactions',
            { issue_number: number, content },
            ignoreAnswer,
          )
        : calls.send(
            'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions',
            { comment_id: comment, content },
            ignoreAnswer,
          ),
    addLabels: (number, labels) =>
      calls.send(
        'POST /repos/{owner}/{repo}/issues/{issue_number}/labels',
        { issue_number: number, labels: [...labels] },
        ignoreAnswer,
      ),
    async removeLabel(number, label) {
      try {
        const parameters = { issue_number: number, name: label }
        await calls.send('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', parameters, ignoreAnswer)
      } catch (error) {
        if (!isCodeHostError(error, 'NotFound')) throw error
      }
    },
  }
}
