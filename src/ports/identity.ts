// Who calls, and what their token allows.
import type { Access, Decision } from '../contract/access.ts'
import type { AttemptKey } from './workloads.ts'

export type Caller = {
  authType: 'token' | 'tokenReview' | 'oidc' | 'contextToken'
  username: string
  uid?: string
  groups: string[]
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  readOnly: boolean
  /** The holder of the machine: may name private addresses for providers (NET-004). */
  isOwner: boolean
  /** Server-side tools in the proxies unless switched off on the token. */
  serverTools: boolean
}

export type Credential = { token: string; source: 'bearer' | 'x-api-key' }

export interface Authenticator {
  /** The caller, or Unauthenticated. Never reveals which part of a token was wrong. */
  authenticate(credential: Credential): Promise<Caller>
}

export interface Authorizer {
  /** What the place where the resources live says of it (in Kubernetes its RBAC). Unavailable when it can not be asked. */
  authorize(caller: Caller, access: Access): Promise<Decision>
}

/** A worker's identity: one attempt of one task (AUTH-007). */
export type WorkerIdentity = AttemptKey & { namespace: string; taskName: string }

export interface WorkerTokens {
  /** A token for one attempt, audience `svc-internal`; the same attempt may be given several. */
  mint(identity: WorkerIdentity): Promise<string>
  /** The identity, or Unauthenticated. Whether the attempt is still the live one is the caller's check. */
  verify(token: string): Promise<WorkerIdentity>
}

export type TokenRecord = {
  id: string
  name: string
  namespace?: string
  readOnly: boolean
  serverTools: boolean
  createdAt: string
  expiresAt?: string
  lastUsedAt?: string
}

export type TokenDraft = { name: string; namespace?: string; readOnly: boolean; serverTools: boolean; expiresAt?: Date }

export interface Tokens {
  /** The token's text is returned once and kept only as a hash. */
  create(draft: TokenDraft): Promise<{ record: TokenRecord; token: string }>
  list(): Promise<TokenRecord[]>
  /** NotFound when it is not there. */
  revoke(id: string): Promise<void>
}
