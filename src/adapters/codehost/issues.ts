// Issues, and what pull requests share with them: comments, reactions, labels.
import { type CodeHost, isCodeHostError } from '../../ports/code-host.ts'
import type { Calls } from './calls.ts'
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
      const given = { state: 'open', sort: 'created', direction: 'desc', page, per_page: perPage } as const
      const assignee = unassignedOnly ? { assignee: 'none' } : {}
      const { values, next } = await calls.getPage(
        'GET /repos/{owner}/{repo}/issues',
        { ...given, ...assignee },
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
    async createComment(number, body) {
      const given = { issue_number: number, body }
      return toComment(await calls.send('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', given))
    },
    async updateComment(id, body) {
      return toComment(
        await calls.send('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', { comment_id: id, body }),
      )
    },
    async addReaction({ number, comment }, content) {
      if (comment === undefined) {
        await calls.send('POST /repos/{owner}/{repo}/issues/{issue_number}/reactions', {
          issue_number: number,
          content,
        })
        return
      }
      await calls.send('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', {
        comment_id: comment,
        content,
      })
    },
    async addLabels(number, labels) {
      await calls.send('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', {
        issue_number: number,
        labels: [...labels],
      })
    },
    async removeLabel(number, label) {
      try {
        await calls.send('DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}', {
          issue_number: number,
          name: label,
        })
      } catch (error) {
        if (!isCodeHostError(error, 'NotFound')) throw error
      }
    },
  }
}
