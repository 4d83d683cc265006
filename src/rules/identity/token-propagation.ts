// Which tokens a child task or a tool call receives, and under which names: never more than the task itself was given.
import { trimTrailing } from '../../lib/trim.ts'

/** Annotations of the service about a task's transaction (TASK-016). */
export const transactionAnnotations = {
  id: 'svc.ai/transaction-id',
  profile: 'svc.ai/context-token-profile',
  issuer: 'svc.ai/transaction-issuer',
  subject: 'svc.ai/transaction-subject',
  requestingWorkload: 'svc.ai/transaction-requesting-workload',
  scope: 'svc.ai/transaction-scope',
  contextDigest: 'svc.ai/transaction-context-digest',
  requesterContextDigest: 'svc.ai/requester-context-digest',
  /** Name of the Secret that holds the child's token. */
  tokenSecret: 'svc.ai/transaction-token-secret',
  tokenPending: 'svc.ai/transaction-token-pending',
  tokenPendingSince: 'svc.ai/transaction-token-pending-since',
} as const

/** On a Secret: uid of the task that it belongs to; no other task may use it. */
export const secretOwnerAnnotation = 'svc.ai/owner-task-uid'

/** What the settings say about propagated tokens; absent when context tokens are off. */
export type PropagationSettings = {
  childScope?: string
  outboundScope?: string
  childTtlMs: number
  toolTtlMs: number
}

/** The entry of that Secret. */
export const tokenSecretKey = 'token'
/** The file that a worker reads its token from. */
export const tokenFileVariables = ['SVC_TRANSACTION_TOKEN_FILE', 'SVC_CONTEXT_TOKEN_SUBJECT_TOKEN_FILE'] as const
/** The header that carries the token in a tool call. */
export const propagationHeader = 'Txn-Token'

type Scopes = { scope?: string | undefined; scopes?: readonly string[] | undefined }

export type ScopeChoice = { outcome: 'chosen'; scope: string } | { outcome: 'refused'; message: string }

function splitScope(scope: string): string[] {
  return scope.split(/\s+/).filter((word) => word !== '')
}

/** The scope to ask for; the transaction must contain every word of it. */
function chooseScope(wanted: string, transaction: Scopes, setting: string): ScopeChoice {
  const granted = new Set(transaction.scopes ?? splitScope(transaction.scope ?? ''))
  const words = splitScope(wanted)
  const beyond = words.filter((word) => !granted.has(word))
  if (words.length > 0 && beyond.length === 0) return { outcome: 'chosen', scope: words.join(' ') }
  const message = `${setting} asks for more than the task's own transaction allows: ${beyond.join(' ') || 'nothing is set'}`
  return { outcome: 'refused', message }
}

/** Scope of a child task's token: the configured one, which must be within the parent's. */
export function chooseChildScope(childScope: string | undefined, parent: Scopes): ScopeChoice {
  return chooseScope(childScope ?? '', parent, '--context-token-child-scope')
}

/** Scope of the token in a tool call: the configured one, or else all of the task's. */
export function chooseOutboundScope(outboundScope: string | undefined, task: Scopes): ScopeChoice {
  const own = task.scope ?? task.scopes?.join(' ') ?? ''
  return chooseScope(outboundScope ?? own, task, '--context-token-outbound-scope')
}

/** `<parent>-txn-<hex time>-<10 hex>`, within the 253 characters of a name (RFC 1123 as Kubernetes reads it). */
export function nameChildTokenSecret(parent: string, now: Date, random: string): string {
  const end = `-txn-${now.getTime().toString(16)}-${random.slice(0, 10)}`
  return `${trimTrailing(parent.slice(0, 253 - end.length), '.-')}${end}`
}

type Transaction = Scopes &
  Partial<Record<'profile' | 'id' | 'issuer' | 'subject', string | undefined>> & {
    requestingWorkload?: string | undefined
    contextDigest?: string | undefined
    requesterContextDigest?: string | undefined
  }

/** Environment variables that tell a task's program about its transaction. */
export function listTransactionVariables(transaction: Transaction | undefined): Record<string, string> {
  const { id, profile, issuer, subject, requestingWorkload, scope, scopes } = transaction ?? {}
  const values = {
    SVC_TRANSACTION_ID: id,
    SVC_TRANSACTION_PROFILE: profile,
    SVC_TRANSACTION_ISSUER: issuer,
    SVC_TRANSACTION_SUBJECT: subject,
    SVC_TRANSACTION_REQUESTING_WORKLOAD: requestingWorkload,
    SVC_TRANSACTION_SCOPE: scope,
    SVC_TRANSACTION_SCOPES: scopes?.join(','),
    SVC_TRANSACTION_CONTEXT_DIGEST: transaction?.contextDigest,
    SVC_TRANSACTION_REQUESTER_CONTEXT_DIGEST: transaction?.requesterContextDigest,
  }
  const entries = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(entries) as Record<string, string>
}

/** A header of the tool itself that clashes with the token's, if there is one. */
export function findReservedHeader(headers: Readonly<Record<string, string>> | undefined): string | undefined {
  return Object.keys(headers ?? {}).find((name) => name.trim().toLowerCase() === propagationHeader.toLowerCase())
}

export type PropagatedHeaders =
  | { outcome: 'headers'; headers: Record<string, string> }
  | { outcome: 'refused'; message: string }

/** The headers of a tool call with its token, if any; a tool that sets the reserved header is refused (TOOL-011). */
export function propagateToken(
  configured: Readonly<Record<string, string>>,
  token: string | undefined,
): PropagatedHeaders {
  const reserved = findReservedHeader(configured)
  if (reserved !== undefined) {
    return { outcome: 'refused', message: `the tool sets the reserved header ${reserved}; remove it from the tool` }
  }
  const headers = { ...configured, ...(token === undefined ? {} : { [propagationHeader]: token }) }
  return { outcome: 'headers', headers }
}
