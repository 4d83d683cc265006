// The code host's JSON as the port's shapes. What strangers may leave out is read with care.
import type { Endpoints } from '@octokit/types'
import * as port from '../ports/codehost/code-host.ts'

type Data<R extends keyof Endpoints> = Endpoints[R]['response']['data']
type ListedPull = Data<'GET /repos/{owner}/{repo}/pulls'>[number]
type PullData = Data<'GET /repos/{owner}/{repo}/pulls/{pull_number}'>
type RepositoryData = Data<'GET /repos/{owner}/{repo}'>
type IssueData = Data<'GET /repos/{owner}/{repo}/issues'>[number]
type FileData = Data<'GET /repos/{owner}/{repo}/pulls/{pull_number}/files'>[number]
type ReviewData = Data<'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews'>[number]
type CommentData = Data<'GET /repos/{owner}/{repo}/issues/{issue_number}/comments'>[number]
type CheckRunData = Data<'GET /repos/{owner}/{repo}/commits/{ref}/check-runs'>['check_runs'][number]
type StatusData = Data<'GET /repos/{owner}/{repo}/commits/{ref}/status'>['statuses'][number]

/** Accounts that were deleted are shown under this name. */
const ghost = 'ghost'
const loginOf = (user: { login?: string } | null | undefined) => user?.login ?? ghost
const labelNames = (labels: readonly (string | { name?: string })[]) =>
  labels.map((label) => (typeof label === 'string' ? label : (label.name ?? ''))).filter((name) => name !== '')

/** Throws where a body has not what it cannot be without: then it is something else. */
function whole<T extends object>(data: T, ...names: (keyof T)[]): T {
  const missing = names.find((name) => data[name] === undefined || data[name] === null)
  if (missing !== undefined) throw new TypeError(`there is no ${String(missing)}`)
  return data
}

function readFullName(text: string): { owner: string; name: string } {
  const [owner = '', name = ''] = text.split('/')
  return { owner, name }
}

export function toPullRequest(pull: ListedPull | PullData): port.PullRequest {
  whole(pull, 'number', 'head', 'base')
  // A fork that was deleted is null, whatever the published schema says.
  const source = pull.head.repo as { full_name: string } | null
  return {
    number: pull.number,
    title: pull.title,
    body: pull.body ?? '',
    author: loginOf(pull.user),
    state: pull.state === 'open' ? 'open' : 'closed',
    merged: pull.merged_at !== null && pull.merged_at !== undefined,
    draft: pull.draft ?? false,
    labels: labelNames(pull.labels),
    base: { branch: pull.base.ref, commit: pull.base.sha },
    head: {
      branch: pull.head.ref,
      commit: pull.head.sha,
      repository: source === null ? undefined : readFullName(source.full_name),
    },
    fork: source?.full_name !== pull.base.repo.full_name,
    url: pull.html_url,
    createdAt: pull.created_at,
    updatedAt: pull.updated_at,
  }
}

export function toPullRequestDetails(pull: PullData): port.PullRequestDetails {
  return {
    ...toPullRequest(pull),
    mergeable: pull.mergeable ?? undefined,
    additions: pull.additions,
    deletions: pull.deletions,
    changedFiles: pull.changed_files,
  }
}

function readPermission(rights: RepositoryData['permissions']): port.RepositoryPermission {
  if (rights === undefined) return 'read'
  if (rights.admin) return 'admin'
  if (rights.maintain) return 'maintain'
  if (rights.push) return 'write'
  return rights.triage ? 'triage' : 'read'
}

export function toRepository(host: string, data: RepositoryData): port.RepositoryDetails {
  return {
    repository: { host, ...readFullName(whole(data, 'full_name').full_name) },
    defaultBranch: data.default_branch,
    private: data.private,
    archived: data.archived,
    permission: readPermission(data.permissions),
    url: data.html_url,
  }
}

export function toFile(file: FileData): port.PullRequestFile {
  const { filename, previous_filename: from, status, additions, deletions, patch } = whole(file, 'filename')
  return {
    path: filename,
    ...(from !== undefined && { previousPath: from }),
    status,
    additions,
    deletions,
    ...(patch !== undefined && { patch }),
  }
}

export function toReview(review: ReviewData): port.Review {
  const { id, user, body, state, commit_id, html_url, submitted_at } = whole(review, 'id')
  return {
    id: Number(id),
    author: loginOf(user),
    body,
    state,
    commit: commit_id ?? undefined,
    url: html_url,
    submittedAt: submitted_at,
  }
}

export function toIssue(issue: IssueData | Data<'GET /repos/{owner}/{repo}/issues/{issue_number}'>): port.Issue {
  whole(issue, 'number')
  return {
    number: issue.number,
    title: issue.title,
    body: issue.body ?? '',
    author: loginOf(issue.user),
    state: issue.state === 'open' ? 'open' : 'closed',
    labels: labelNames(issue.labels as readonly (string | { name?: string })[]),
    assignees: (issue.assignees ?? []).map(loginOf),
    commentCount: issue.comments,
    isPullRequest: issue.pull_request !== undefined,
    url: issue.html_url,
    createdAt: issue.created_at,
  }
}

export function toComment(comment: CommentData): port.Comment {
  const { id, user, body, html_url, created_at } = whole(comment, 'id')
  return { id: Number(id), author: loginOf(user), body: body ?? '', url: html_url, createdAt: created_at }
}

/** Conclusions that let a pull request pass; whatever else a run ended with has failed. */
const passing = ['success', 'neutral', 'skipped']

export function toCheckRun({ name, status, conclusion, html_url }: CheckRunData): port.Check {
  const ended = status === 'completed'
  const state = !ended ? 'pending' : passing.includes(conclusion ?? '') ? 'passed' : 'failed'
  return {
    name,
    source: 'check-run',
    state,
    outcome: (ended ? conclusion : status) ?? status,
    url: html_url ?? undefined,
  }
}

export function toStatusCheck({ context, state, target_url }: StatusData): port.Check {
  const read = state === 'success' ? 'passed' : state === 'pending' ? 'pending' : 'failed'
  return { name: context, source: 'status', state: read, outcome: state, url: target_url ?? undefined }
}

export function toMerged(merged: Data<'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge'>) {
  const { sha: commit, message } = whole(merged, 'sha')
  return { commit, message }
}

export function toLogin(user: Data<'GET /user'>): string {
  return whole(user, 'login').login
}

export function toNodeId(pull: PullData): string {
  return whole(pull, 'node_id').node_id
}

/** A role that an organisation made itself counts as the right that it is built on. */
export function toPermission(
  answer: Data<'GET /repos/{owner}/{repo}/collaborators/{username}/permission'>,
): port.RepositoryPermission {
  const { role_name: role, permission } = whole(answer, 'permission')
  return (
    port.repositoryPermissions.find((known) => known === role || (known === permission && !isKnown(role))) ?? 'none'
  )
}

function isKnown(role: string): boolean {
  return port.repositoryPermissions.some((known) => known === role)
}
