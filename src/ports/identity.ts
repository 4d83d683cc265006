// Who calls, and what their token allows.
import type { Access, Decision, Role } from '../contract/access.ts'
import type { AttemptKey } from './workloads.ts'

/** The verified context token (transaction token) that a call came with. */
export type CallerTransaction = {
  /** `kontxt`. */
  profile: string
  /** The header `typ` of the token. */
  type: string
  /** The claim `txn`. */
  id: string
  issuer: string
  subject: string
  audience: string[]
  /** The claim `scope`, and its words. */
  scope: string
  scopes: string[]
  requestingWorkload: string
  /** The claims `tctx` and `rctx` as they were signed; empty where absent. */
  context: Record<string, unknown>
  requesterContext: Record<string, unknown>
}

/** Where something that is done for a caller comes from. */
export type ActionOrigin = {
  /** Name of the session. */
  session?: string
  taskUid?: string
  requestId?: string
  /** Address that the request came from. */
  address?: string
}

/** Whom the cluster's RBAC is asked about, in the words of a SubjectAccessReview. */
export type ClusterSubject = { user: string; uid?: string; groups: string[]; extra?: Record<string, string[]> }

export type Caller = {
  authType: 'token' | 'tokenReview' | 'oidc' | 'contextToken'
  username: string
  uid?: string
  groups: string[]
  /** Who the issuer of an OIDC or context token says the caller is; absent for tokens of the service or the cluster. */
  subject?: string
  issuer?: string
  email?: string
  roles?: string[]
  /** Of a context token. */
  transaction?: CallerTransaction
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  /** What the caller may do. Of an owner also: the machine is its own (NET-004). */
  role: Role
  /** Present: the cluster's RBAC decides in the place of the role. */
  cluster?: ClusterSubject
  /** The command line of an agent: it may use this provider within this budget, and nothing else. */
  agent?: AgentGrant
  /** A model acts for the caller: it may name no secrets (SECRET-007). */
  isModel?: boolean
  /** What the model acts in; told to the audit log, decides nothing. */
  origin?: ActionOrigin
  /** Server-side tools in the proxies unless switched off on the token. */
  serverTools: boolean
}

/** `context`: the token came in a header that is configured for context tokens. */
export type Credential = { token: string; source: 'bearer' | 'x-api-key' | 'context' }

export interface Authenticator {
  /**
   * The caller, or Unauthenticated. Never reveals which part of a token was wrong. Forbidden for a good token whose
   * subject is not allowed; Unavailable when its issuer cannot be asked.
   */
  authenticate(credential: Credential): Promise<Caller>
  /**
   * Whether the service itself signed the credential for a task, told at once and without asking anybody: no count of
   * failures holds it up. Absent: it signs none.
   */
  recognizes?(credential: Credential): boolean
}

export interface Authorizer {
  /** What the place where the resources live says of it (in Kubernetes its RBAC). Unavailable when it cannot be asked. */
  authorize(caller: Caller, access: Access): Promise<Decision>
}

/** A worker's identity: one attempt of one task (AUTH-007). */
export type WorkerIdentity = AttemptKey & { namespace: string; taskName: string }

/** What the command line of one attempt may spend (AUTH-013). */
export type AgentGrant = WorkerIdentity & {
  provider: { namespace: string; name: string }
  /** Tokens in and out that all calls of the task may take together. */
  maxTokens: number
  /** RFC 3339. */
  expiresAt: string
}

export interface AgentTokens {
  mint(grant: AgentGrant): Promise<string>
  /** Whether the service signed it, told at once; it may have run out. */
  recognizes(token: string): boolean
  /** The grant, or Unauthenticated. Whether attempt and budget last is the proxies' check. */
  verify(token: string): Promise<AgentGrant>
}

export interface WorkerTokens {
  /** A token for one attempt, audience `svc-internal`; the same attempt may be given several. */
  mint(identity: WorkerIdentity): Promise<string>
  /** The identity, or Unauthenticated. Whether the attempt is still the live one is the caller's check. */
  verify(token: string): Promise<WorkerIdentity>
  /** Whether the service signed the token itself, told at once; absent where somebody else does. */
  recognizes?(token: string): boolean
}

/** What a token is exchanged for (RFC 8693). */
export type ExchangeRequest = {
  /** The token of the one it is for, where that is what is exchanged. */
  subjectToken?: string
  /** Instead: the transaction of a request, whose own token is exchanged. */
  incoming?: CallerTransaction
  /** Words with blanks between them. */
  scope: string
  /** Lifetime that is asked for. */
  ttlMs: number
  /** What the new token is for; goes into it. */
  details: Record<string, string>
  requesterContext?: Record<string, unknown>
}

/** Exchanges tokens at the operator's transaction-token service. */
export interface TokenExchange {
  /** NotConfigured, UpstreamFailed when it was refused, Unavailable when nobody answered; never with a token in it. */
  exchange(request: ExchangeRequest, signal?: AbortSignal): Promise<{ token: string; expiresAt?: string }>
}

export type TokenRecord = {
  id: string
  name: string
  namespace?: string
  role: Role
  serverTools: boolean
  createdAt: string
  expiresAt?: string
  lastUsedAt?: string
}

export type TokenDraft = { name: string; namespace?: string; role: Role; serverTools: boolean; expiresAt?: Date }

export interface Tokens {
  /** The token's text is returned once and kept only as a hash. */
  create(draft: TokenDraft): Promise<{ record: TokenRecord; token: string }>
  list(): Promise<TokenRecord[]>
  /** NotFound when it is not there. */
  revoke(id: string): Promise<void>
}
