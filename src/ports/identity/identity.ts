// Who is calling, and what their token allows.
import type { Access, Decision, Role } from '../../contract/api/identity/access.ts'
import type { AttemptKey } from '../tasks/workloads.ts'

/** The verified context token (transaction token) that a call came with. */
export type CallerTransaction = {
  /** `kontxt`. */
  profile: string
  /** The value of `typ` in the token's header. */
  type: string
  /** The claim `txn`. */
  id: string
  issuer: string
  subject: string
  audience: string[]
  /** The claim `scope`, split into words. */
  scope: string
  scopes: string[]
  requestingWorkload: string
  /** The claims `tctx` and `rctx` as signed; empty when absent. */
  context: Record<string, unknown>
  requesterContext: Record<string, unknown>
}

/** The origin of an action that is done for a caller. */
export type ActionOrigin = {
  /** Name of the session. */
  session?: string
  taskUid?: string
  requestId?: string
  /** Address of the request's connection. */
  address?: string
}

/** Who the cluster's RBAC is asked about, in the terms of a SubjectAccessReview. */
export type ClusterSubject = { user: string; uid?: string; groups: string[]; extra?: Record<string, string[]> }

export type Caller = {
  authType: 'token' | 'tokenReview' | 'oidc' | 'contextToken'
  username: string
  uid?: string
  groups: string[]
  /** The caller as named by the issuer of an OIDC or context token; absent for tokens of the service or the cluster. */
  subject?: string
  issuer?: string
  email?: string
  roles?: string[]
  /** Set for a context token. */
  transaction?: CallerTransaction
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  /** What the caller may do. For an owner also: the machine belongs to the caller (NET-004). */
  role: Role
  /** Present: the cluster's RBAC decides instead of the role. */
  cluster?: ClusterSubject
  /** The command line of an agent: it may use this provider within this budget, and do nothing else. */
  agent?: AgentGrant
  /** The stored token that the caller came with; absent for the owner's own token and for callers of others. */
  token?: CallerToken
  /** True when a model acts for the caller; it may name no secrets (SECRET-007). */
  isModel?: boolean
  /** Where the model acts; recorded in the audit log, affects no decision. */
  origin?: ActionOrigin
  /** Whether the proxies add server-side tools; on unless the token switches them off. */
  serverTools: boolean
}

export type CallerToken = {
  id: string
  expiresAt?: string
  /** It came from a sign-in link: the caller is who made the link. */
  isSignIn: boolean
}

/** `context`: the token came in a header configured for context tokens. */
export type Credential = { token: string; source: 'bearer' | 'x-api-key' | 'context' }

export interface Authenticator {
  /**
   * The caller, or Unauthenticated, which never reveals which part of a token was wrong. Forbidden when the token is
   * valid but its subject is not allowed; Unavailable when its issuer cannot be reached.
   */
  authenticate(credential: Credential): Promise<Caller>
  /**
   * Whether the service itself signed the credential for a task. Answers at once, without asking anybody, so that a
   * limit on failed attempts never delays it. Absent when the service signs none.
   */
  recognizes?(credential: Credential): boolean
}

export interface Authorizer {
  /**
   * The decision of the system that holds the resources (RBAC in Kubernetes). Unavailable when it cannot be reached.
   */
  authorize(caller: Caller, access: Access): Promise<Decision>
}

/** A worker's identity: one attempt of one task (AUTH-007). */
export type WorkerIdentity = AttemptKey & { namespace: string; taskName: string }

/** What the agent command line of one attempt may spend (AUTH-013). */
export type AgentGrant = WorkerIdentity & {
  provider: { namespace: string; name: string }
  /** The one model of it; absent: any. */
  model?: string
  /** Input and output tokens that all calls of the task may use together. */
  maxTokens: number
  /** RFC 3339. */
  expiresAt: string
}

export interface AgentTokens {
  mint(grant: AgentGrant): Promise<string>
  /** Whether the service signed it; answers at once, also for an expired token. */
  recognizes(token: string): boolean
  /** The grant, or Unauthenticated. The proxies check whether the attempt is live and budget is left. */
  verify(token: string): Promise<AgentGrant>
}

export interface WorkerTokens {
  /**
   * A token for one attempt, audience `svc-internal`; an attempt may be given several. Empty where the environment in
   * which it runs (`own`: that of the service's workloads) brings one.
   */
  mint(identity: WorkerIdentity, environment?: 'own' | 'workspace'): Promise<string>
  /** The identity, or Unauthenticated. The caller checks whether the attempt is still the live one. */
  verify(token: string): Promise<WorkerIdentity>
  /** Whether the service signed the token itself; answers at once. Absent when somebody else signs. */
  recognizes?(token: string): boolean
}

/** What is exchanged for a token (RFC 8693). */
export type ExchangeRequest = {
  /** The token of the subject, when that is what is exchanged. */
  subjectToken?: string
  /** Alternatively, the transaction of a request, whose own token is exchanged. */
  incoming?: CallerTransaction
  /** Words separated by spaces. */
  scope: string
  /** The requested lifetime. */
  ttlMs: number
  /** What the new token is for; becomes part of it. */
  details: Record<string, string>
  requesterContext?: Record<string, unknown>
}

/** Exchanges tokens at the operator's transaction-token service. */
export interface TokenExchange {
  /**
   * NotConfigured; UpstreamFailed when it is refused; Unavailable when nobody answers. Messages never contain a token.
   */
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
  /** Present: it came from a sign-in link of this caller, and acts as that caller. */
  signInOf?: { id: string; name: string }
}

export type TokenDraft = { name: string; namespace?: string; role: Role; serverTools: boolean; expiresAt?: Date }

export interface Tokens {
  /** The token's text is returned once; only a hash is stored. */
  create(draft: TokenDraft): Promise<{ record: TokenRecord; token: string }>
  list(): Promise<TokenRecord[]>
  /** Ends with it: tokens and links of callers who signed in with it. NotFound when it does not exist. */
  revoke(id: string): Promise<void>
}

/** The token that a sign-in link stands for. */
export type SignInDraft = {
  /** Who makes the link: the id of a token, or `owner`. */
  caller: { id: string; name: string }
  token: TokenDraft & { expiresAt: Date }
  /** When the link ends. */
  expiresAt: Date
}

export interface SignInLinks {
  /** A code for one sign-in; only a hash of it is stored. */
  create(draft: SignInDraft): Promise<string>
  /**
   * Spends the code for its token. Unauthenticated, always in the same words, for one that is unknown, spent or over, or
   * whose maker's token was revoked.
   */
  exchange(code: string): Promise<{ record: TokenRecord; token: string }>
}
