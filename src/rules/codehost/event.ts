// A delivery of the code host: whether its signature is right, and what is kept of its payload.
import { createHmac, timingSafeEqual } from 'node:crypto'
import {
  AnyPayload,
  type CodeHostEvent,
  CodeHostPayload,
  type CodeHostRepository,
  type CodeHostSide,
  type CodeHostTarget,
  type WorkedEvent,
  workedEvents,
} from '../../contract/api/codehost/events.ts'
import { problemsOf } from '../../contract/schema/validation.ts'

const shape = /^sha256=[0-9a-f]{64}$/i

/** Whether a header can be a signature at all; if not, there is no need to read the body. */
export function isSignature(header: string | undefined): header is string {
  return header !== undefined && shape.test(header)
}

/** Whether the body was signed with one of the secrets. Takes as long for each wrong signature. */
export function verifySignature(body: Uint8Array, header: string | undefined, secrets: readonly string[]): boolean {
  if (!isSignature(header)) return false
  const signature = Buffer.from(header.slice('sha256='.length), 'hex')
  const fits = secrets.map((secret) => timingSafeEqual(createHmac('sha256', secret).update(body).digest(), signature))
  return fits.includes(true)
}

type Payload = CodeHostPayload
type RepositoryPayload = Payload['repository']
type PullRequestPayload = NonNullable<Payload['pull_request']>

/** Whether an event can lead to something. */
export function isHandledEvent(event: string): event is WorkedEvent {
  return (workedEvents as readonly string[]).includes(event)
}

/** The repository as deliveries are filed: names of the code host are the same in upper and lower case. */
export function fileRepositoryName(fullName: string): string {
  return fullName.toLowerCase()
}

function readRepository(payload: RepositoryPayload): CodeHostRepository {
  return {
    fullName: payload.full_name,
    url: payload.html_url,
    cloneURL: payload.clone_url,
    defaultBranch: payload.default_branch,
  }
}

function readSide({ ref, sha, repo }: PullRequestPayload['head']): CodeHostSide {
  return { branch: ref, sha, repository: repo ? readRepository(repo) : undefined }
}

function readTarget({ issue, pull_request: pull }: Payload): CodeHostTarget | undefined {
  const described = pull ?? issue
  if (described === undefined) return undefined
  const isPull = pull !== undefined || issue?.pull_request !== undefined
  return {
    kind: isPull ? 'pull_request' : 'issue',
    number: described.number,
    title: described.title ?? '',
    body: described.body ?? '',
    url: described.html_url,
    author: described.user?.login,
    isOpen: described.state !== 'closed',
    ...(pull && { head: readSide(pull.head), base: readSide(pull.base), isDraft: pull.draft ?? false }),
  }
}

function readComment({ comment }: Payload): CodeHostEvent['comment'] {
  if (comment === undefined) return undefined
  return { id: comment.id, body: comment.body ?? '', url: comment.html_url, author: comment.user?.login ?? '' }
}

/** RFC 3339 in UTC; undefined for what is no time. */
function readTime(text: string | null | undefined): string | undefined {
  const time = text ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

function toEvent(event: WorkedEvent, payload: Payload): CodeHostEvent {
  const { sender, comment, issue, pull_request: pull } = payload
  return {
    event,
    action: payload.action,
    repository: readRepository(payload.repository),
    sender: sender?.login ?? '',
    isBot: sender?.type === 'Bot',
    happenedAt: readTime(comment?.created_at ?? pull?.updated_at ?? issue?.updated_at),
    target: readTarget(payload),
    label: payload.label?.name,
    comment: readComment(payload),
  }
}

/** The event, or what is wrong with its payload. */
export function readEvent(event: WorkedEvent, payload: unknown): CodeHostEvent | { problem: string } {
  const parsed = CodeHostPayload.safeParse(payload)
  if (parsed.success) return toEvent(event, parsed.data)
  const [first] = problemsOf(parsed.error)
  return { problem: `the payload is not one of event ${event}: ${first?.path} ${first?.message}` }
}

/** What the list of deliveries shows of an event that leads to nothing. */
export function readSummary(payload: unknown): { action?: string; repository?: string; sender?: string } {
  const { data } = AnyPayload.safeParse(payload)
  const { action, repository, sender } = data ?? {}
  return {
    ...(action !== undefined && { action }),
    ...(repository && { repository: fileRepositoryName(repository.full_name) }),
    ...(sender && { sender: sender.login }),
  }
}
