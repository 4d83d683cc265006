// The code host (GitHub, GitHub Enterprise) as one login sees it: repositories, pull requests, issues. What it answers was written
// by strangers and is data. Everything is read in whole: every page of a list, unless a method says where it stops.
import type { CodeHostAnswer, CodeHostCall } from '../../contract/api/codehost/code-host-tools.ts'
import type { Repository } from '../../contract/values/repository-url.ts'
import { type ErrorReason, SvcError } from '../../errors.ts'

export interface TaskCodeHost {
  /** What was refused, by the service or by the code host, is part of the answer. */
  call(call: CodeHostCall): Promise<CodeHostAnswer>
}

/** Read anew for every call from a Secret; kept in memory no longer than the call, and never given to models or their code. */
export type CodeHostCredentials =
  | { kind: 'token'; token: string }
  /** Signed in as an installation of a GitHub App; without its id: the installation of the repository. */
  | { kind: 'app'; appId: string; privateKey: string; installationId?: number }

export type CodeHostLogin = {
  /** Undefined: not signed in, which is enough to read public repositories. Rejects as the reading of the Secret does. */
  readCredentials(): Promise<CodeHostCredentials | undefined>
  /** Ends every call. */
  signal?: AbortSignal
}

export interface CodeHosts {
  /** Lower-case names, with ports (`--codehost-hosts`); never empty. */
  readonly hosts: readonly string[]
  /** Where the host's API is, and the credentials are sent. NotFound for a host that is none of `hosts`. */
  apiUrl(host: string): URL
  /** Calls nothing. NotFound for a repository on another host. */
  open(repository: Repository, login: CodeHostLogin): CodeHost
  /** What git over HTTPS is given for the repository: the token, or one of an App's installation that is valid for minutes. */
  gitPassword(repository: Repository, credentials: CodeHostCredentials): Promise<string>
}

/** Every method may reject with any CodeHostError, and takes numbers of pull requests and issues. */
export interface CodeHost {
  readonly repository: Repository
  /** Name of the one who is signed in; of an App `<slug>[bot]`. LoginRefused without credentials. */
  getLogin(): Promise<string>
  /** Follows a move, so that `repository` may have another name than was asked for. */
  getRepository(): Promise<RepositoryDetails>
  /**
   * What the user may do in the repository; `none` for strangers, of public repositories as well.
   */
  getPermission(user: string): Promise<RepositoryPermission>
  /** The open pull requests, by number. Costs one conditional call for each 100 when nothing has changed. */
  listPullRequests(filter?: PullRequestFilter): Promise<PullRequest[]>
  /** One page of the same, newest first. */
  listPullRequestPage(page: ListPage): Promise<PullRequest[]>
  getPullRequest(number: number): Promise<PullRequestDetails>
  /** Newest first, open or not. `head`: a branch of this repository, or `owner:branch` of a fork. */
  findPullRequests(query: { head: string; base?: string; open?: boolean }): Promise<PullRequest[]>
  /** The open one of the same head and base when there is one already (`created` is false). */
  createPullRequest(draft: PullRequestDraft): Promise<{ pullRequest: PullRequest; created: boolean }>
  /** Up to 3,000, which is all that the code host lists. */
  listFiles(number: number): Promise<PullRequestFile[]>
  /** Unified. TooLarge above 10 MiB, or where the code host refuses to make one; the files' patches may still be had. */
  getDiff(number: number): Promise<string>
  /** Check runs and commit statuses of a commit, the newest of each name. */
  listChecks(commit: string): Promise<Check[]>
  /** Oldest first, of all heads. */
  listReviews(number: number): Promise<Review[]>
  /** Nothing is posted when any of its comments names a line that is not in the diff: Invalid. */
  postReview(number: number, draft: ReviewDraft): Promise<Review>
  /** Comments on lines, by the conversations that they make up. */
  listReviewThreads(number: number): Promise<ReviewThread[]>
  /** Refused with Conflict when the head is another commit, or it cannot be merged. */
  merge(number: number, draft: MergeDraft): Promise<{ commit: string; message: string }>
  /** Lets the code host merge by itself once its requirements are met. Conflict where it is not allowed or not needed. */
  enableAutoMerge(number: number, draft: MergeDraft): Promise<void>
  /** One page, newest first; pull requests are left out, so that a page may be short, or empty, and not the last. */
  listIssuePage(page: ListPage & { unassignedOnly: boolean }): Promise<{ issues: Issue[]; hasNextPage: boolean }>
  /** Whether code scanning has an analysis of this commit of that category, among the last 100 of the ref. */
  hasAnalysis(analysis: { ref: string; commit: string; category: string }): Promise<boolean>
  /** Gives code scanning a SARIF log; returns the id of the upload. TooLarge above 10 MiB, compressed. */
  uploadAnalysis(analysis: AnalysisDraft): Promise<string>
  /** What became of an upload; `errors`: why it failed. */
  getAnalysisUpload(id: string): Promise<{ state: 'pending' | 'complete' | 'failed'; errors: readonly string[] }>
  getIssue(number: number): Promise<Issue>
  /** Of an issue, or the conversation of a pull request; oldest first. */
  listComments(number: number): Promise<Comment[]>
  createComment(number: number, body: string): Promise<Comment>
  /** NotFound when it has been deleted. */
  updateComment(id: number, body: string): Promise<Comment>
  /** Does nothing when it is there already. `comment`: without it the issue or pull request itself. */
  addReaction(target: { number: number; comment?: number }, reaction: Reaction): Promise<void>
  addLabels(number: number, labels: readonly string[]): Promise<void>
  /** Does nothing when it is not there. */
  removeLabel(number: number, label: string): Promise<void>
}

/** `ref`: in full, such as `refs/heads/main`; `sarif`: the log as JSON. */
export type AnalysisDraft = { ref: string; commit: string; sarif: string }

export type ListPage = { /** From 1. */ page: number /** 1..100. */; perPage: number }

export type PullRequestFilter = { /** Only those into this branch. */ base?: string }

export const repositoryPermissions = ['none', 'read', 'triage', 'write', 'maintain', 'admin'] as const
/** In rising order. */
export type RepositoryPermission = (typeof repositoryPermissions)[number]

export type RepositoryDetails = {
  repository: Repository
  defaultBranch: string
  private: boolean
  /** Nothing can be written to it. */
  archived: boolean
  /** What the one who is signed in may do; `read` when nobody is. */
  permission: RepositoryPermission
  url: string
}

export type PullRequest = {
  number: number
  title: string
  /** Empty when there is none. */
  body: string
  author: string
  state: 'open' | 'closed'
  merged: boolean
  draft: boolean
  labels: string[]
  base: { branch: string; commit: string }
  /** `repository` is undefined when the fork has been deleted. */
  head: { branch: string; commit: string; repository: Pick<Repository, 'owner' | 'name'> | undefined }
  /** Its head is in another repository, or in one that is gone: somebody wrote it who may not write here. */
  fork: boolean
  /** For people. */
  url: string
  createdAt: string
  updatedAt: string
}

export type PullRequestDetails = PullRequest & {
  /** Undefined while the code host has not found out. */
  mergeable: boolean | undefined
  additions: number
  deletions: number
  changedFiles: number
}

export type PullRequestFile = {
  path: string
  /** Of a renamed file. */
  previousPath?: string
  status: string
  additions: number
  deletions: number
  /** Hunks of the unified diff; absent of binary files and of large ones. */
  patch?: string
}

export type PullRequestDraft = { head: string; base: string; title: string; body?: string; draft?: boolean }

export type Check = {
  name: string
  source: 'check-run' | 'status'
  state: 'passed' | 'failed' | 'pending'
  /** The code host's own word, such as `neutral` or `timed_out`. */
  outcome: string
  url: string | undefined
}

export const reviewEvents = ['APPROVE', 'REQUEST_CHANGES', 'COMMENT'] as const
export type ReviewEvent = (typeof reviewEvents)[number]

/** Lines of the file as it is at the head, from 1; `startLine` of a comment on several lines, which ends at `line`. */
export type LineComment = { path: string; line: number; startLine?: number; side?: 'LEFT' | 'RIGHT'; body: string }

export type ReviewDraft = {
  event: ReviewEvent
  body: string
  /** The head that was read. */
  commit: string
  comments?: readonly LineComment[]
}

export type Review = {
  id: number
  author: string
  body: string
  /** `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `DISMISSED`, `PENDING`. */
  state: string
  /** Undefined when it has been lost by a force-push. */
  commit: string | undefined
  url: string
  submittedAt: string | undefined
}

export type ReviewThread = {
  path: string
  /** Undefined once the line is no longer in the diff. */
  line: number | undefined
  /** Somebody has closed the conversation. */
  resolved: boolean
  /** Oldest first; up to the first 50. */
  comments: { id: number; author: string; body: string; url: string; createdAt: string }[]
}

export const mergeMethods = ['merge', 'squash', 'rebase'] as const
export type MergeMethod = (typeof mergeMethods)[number]

export type MergeDraft = {
  method: MergeMethod
  /** The commit that was judged: no other one is merged. */
  head: string
  title?: string
  message?: string
}

export type Issue = {
  number: number
  title: string
  body: string
  author: string
  state: 'open' | 'closed'
  labels: string[]
  assignees: string[]
  commentCount: number
  /** Commands in comments may name either. */
  isPullRequest: boolean
  url: string
  createdAt: string
}

export type Comment = { id: number; author: string; body: string; url: string; createdAt: string }

export type Reaction = '+1' | '-1' | 'laugh' | 'confused' | 'heart' | 'hooray' | 'rocket' | 'eyes'

/** Each fault with what it is at the service's own edge. */
const faultReasons = {
  /** 401: the token is wrong, has expired or was taken back; or nobody is signed in and must be. */
  LoginRefused: 'Forbidden',
  /** The login is known and lacks `right`. */
  MissingRight: 'Forbidden',
  /** No such repository, pull request or comment, or none that this login may see. */
  NotFound: 'NotFound',
  /** The repository has another name now: `movedTo`. Reads follow a move; nothing is written to the old name. */
  Moved: 'Conflict',
  Archived: 'Conflict',
  /** The state has changed or does not allow it: another head, not mergeable, a branch that is gone. */
  Conflict: 'Conflict',
  /** The code host refuses what it was sent; the message has its words. */
  Invalid: 'InvalidRequest',
  /** Primary or secondary rate limit: nothing is sent with this login before `heldUpUntil`. */
  HeldUp: 'TooManyRequests',
  /** A diff or an answer that is larger than is read. */
  TooLarge: 'TooLarge',
  /** 5xx, no answer in time, no connection. Whether a write was done is unknown. */
  Unreachable: 'UpstreamFailed',
} as const satisfies Record<string, ErrorReason>

export type CodeHostFault = keyof typeof faultReasons

export type CodeHostErrorDetails = {
  /** RFC 3339. */
  heldUpUntil?: string
  /** Such as `pull_requests=write`, as the code host names it. */
  right?: string
  movedTo?: Repository
  cause?: unknown
}

/** Why the code host did not do it. The message says what to do and has nothing secret in it. */
export class CodeHostError extends SvcError {
  readonly fault: CodeHostFault
  /** Present of HeldUp. */
  readonly heldUpUntil: string | undefined
  /** Of MissingRight, where the code host says it. */
  readonly right: string | undefined
  /** Of Moved. */
  readonly movedTo: Repository | undefined

  constructor(fault: CodeHostFault, message: string, details: CodeHostErrorDetails = {}) {
    const { heldUpUntil, right, movedTo, cause } = details
    const wait = heldUpUntil === undefined ? 0 : Math.ceil((Date.parse(heldUpUntil) - Date.now()) / 1000)
    super(faultReasons[fault], message, { cause, ...(wait > 0 && { retryAfterSeconds: wait }) })
    this.name = 'CodeHostError'
    this.fault = fault
    this.heldUpUntil = heldUpUntil
    this.right = right
    this.movedTo = movedTo
  }
}

/** True when `error` came from the code host, with the given fault if one is named. */
export function isCodeHostError(error: unknown, fault?: CodeHostFault): error is CodeHostError {
  return error instanceof CodeHostError && (fault === undefined || error.fault === fault)
}
