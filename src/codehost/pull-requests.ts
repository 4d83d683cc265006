// Pull requests: finding, reading, making and merging them.
import {
  type CodeHost,
  isCodeHostError,
  type MergeDraft,
  type PullRequest,
  type PullRequestDraft,
} from '../ports/codehost/code-host.ts'
import type { Calls } from './calls.ts'
import { toCheckRun, toFile, toMerged, toNodeId, toPullRequest, toPullRequestDetails, toStatusCheck } from './shapes.ts'

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
    const given = {
      head: named,
      ...(base !== undefined && { base }),
      state: open ? 'open' : 'all',
      sort: 'created',
    } as const
    return calls.getAll(pulls, { ...given, direction: 'desc' }, (list) => list.map(toPullRequest))
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
      const given = { state: 'open', sort: 'created', direction: 'desc', page, per_page: perPage } as const
      return (await calls.getPage(pulls, given, (list) => list.map(toPullRequest))).values
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
      const given = {
        pull_number: number,
        merge_method: method,
        sha: head,
        ...(title !== undefined && { commit_title: title }),
        ...(message !== undefined && { commit_message: message }),
      }
      return calls.send('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', given, toMerged)
    },
    async enableAutoMerge(number, { method, head, title, message }: MergeDraft) {
      const id = await readNodeId(number)
      await calls.mutate(enableAutoMerge, { id, method: method.toUpperCase(), head, title, message })
    },
  }
}
