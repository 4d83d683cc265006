// The verified identity that a task keeps of whoever asked for it, and how its children inherit it (TASK-012 to
// TASK-017).
import { createHash } from 'node:crypto'
import { parentOf, type TaskIdentity } from '../../contract/kinds/tasks/family.ts'
import { RequestedBy, Transaction } from '../../contract/kinds/tasks/requester.ts'
import type { Task } from '../../contract/kinds/tasks/task.ts'
import { trimBoth, trimTrailing } from '../../lib/trim.ts'
import { digestContext, recordContext } from '../identity/context-digest.ts'
import { transactionAnnotations } from '../identity/token-propagation.ts'

export { parentOf } from '../../contract/kinds/tasks/family.ts'

export function isChildOf(child: Task, parent: TaskIdentity): boolean {
  return parentOf(child)?.uid === parent.uid
}

const stampLabels = { transactionId: 'svc.ai/transaction-id', profile: 'svc.ai/auth-profile' } as const

/** Labels of the stamp; only the service writes them. */
const stampedLabelKeys: readonly string[] = Object.values(stampLabels)
const annotationKeys: readonly string[] = Object.values(transactionAnnotations)
const { tokenSecret, tokenPending, tokenPendingSince } = transactionAnnotations
/** About the token of this one task; children do not inherit it. */
const ownAnnotations: readonly string[] = [tokenSecret, tokenPending, tokenPendingSince]

type Stamp = {
  spec: { requestedBy?: RequestedBy; transaction?: Transaction }
  labels: Record<string, string>
  annotations: Record<string, string>
}

/** The verified transaction of a context token. */
type SignedTransaction = Required<Pick<Transaction, 'profile' | 'id' | 'issuer' | 'subject' | 'audience'>> &
  Required<Pick<Transaction, 'scope' | 'scopes' | 'requestingWorkload'>> & {
    /** The token's header. */
    type: string
    context: Readonly<Record<string, unknown>>
    requesterContext: Readonly<Record<string, unknown>>
  }

/** The verified requester. */
export type Identity = {
  authType: string
  username: string
  groups: string[]
  subject?: string
  issuer?: string
  email?: string
  roles?: string[]
  transaction?: SignedTransaction
}

const nothing: Stamp = { spec: {}, labels: {}, annotations: {} }
const maxLabelLength = 63
const hashDigits = 10

function isPresent(value: unknown): boolean {
  if (value === undefined || value === '') return false
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0
}

function keepPresent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isPresent(value))) as never
}

/** A text as a label value: unsuitable characters are left out, and a hash then keeps it distinct. */
export function toLabel(text: string): string {
  const safe = trimBoth(text.replace(/[^A-Za-z0-9._-]+/g, '-'), '._-')
  if (safe === text && text.length <= maxLabelLength) return text
  const hash = createHash('sha256').update(text, 'utf8').digest('hex').slice(0, hashDigits)
  const stem = trimTrailing(safe.slice(0, maxLabelLength - hashDigits - 1), '._-')
  return stem === '' ? hash : `${stem}-${hash}`
}

function readTransaction({ context, requesterContext, type: _type, ...signed }: SignedTransaction): Transaction {
  const digests = { contextDigest: digestContext(context), requesterContextDigest: digestContext(requesterContext) }
  return keepPresent({ ...signed, ...digests, context: recordContext(context) })
}

function annotate(transaction: Transaction): Record<string, string> {
  const { id, profile, issuer, subject, requestingWorkload, scope, contextDigest, requesterContextDigest } = transaction
  const values = { id, profile, issuer, subject, requestingWorkload, scope, contextDigest, requesterContextDigest }
  const entries = Object.entries(keepPresent(values)) as [keyof typeof values, string][]
  return Object.fromEntries(entries.map(([field, value]) => [transactionAnnotations[field], value]))
}

/** The stamp of a caller; empty for everybody whom the service or the cluster itself vouches for. */
export function stampOf(caller: Identity): Stamp {
  if (caller.authType !== 'oidc' && caller.authType !== 'contextToken') return nothing
  const { subject, issuer, username, email, groups, roles } = caller
  const requestedBy: RequestedBy = keepPresent({ subject, issuer, username, email, groups, roles })
  if (caller.transaction === undefined) return { ...nothing, spec: { requestedBy } }
  const transaction = readTransaction(caller.transaction)
  const { id = '', profile = '' } = transaction
  return {
    spec: { requestedBy, transaction },
    labels: { [stampLabels.transactionId]: toLabel(id), [stampLabels.profile]: toLabel(profile) },
    annotations: annotate(transaction),
  }
}

/** Whether the identity fits into a task; truncated, it would be a different identity. */
export function fitsTask({ spec }: Stamp): boolean {
  const { requestedBy = {}, transaction = {} } = spec
  return RequestedBy.safeParse(requestedBy).success && Transaction.safeParse(transaction).success
}

type Map = Readonly<Record<string, string>> | undefined

function pick(map: Map, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => keys.includes(key)))
}

type Stamped = { metadata: { labels?: Map; annotations?: Map }; spec: Stamp['spec'] }

/** The stamp of a task's children: the task's own, without the token that was issued for that task alone. */
export function inheritStamp({ metadata, spec }: Stamped): Stamp {
  const { requestedBy, transaction } = spec
  const inherited = annotationKeys.filter((key) => !ownAnnotations.includes(key))
  return {
    spec: keepPresent({ requestedBy, transaction }),
    labels: pick(metadata.labels, stampedLabelKeys),
    annotations: pick(metadata.annotations, inherited),
  }
}
