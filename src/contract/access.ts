// What somebody wants to do, in the words that every edge, rule and authorizer share.
import type { Kind } from './resources/index.ts'

export type AccessVerb = 'get' | 'list' | 'create' | 'update' | 'delete'

/** Kinds of resources, and of what else is guarded. */
export type AccessKind = Kind | 'Secret' | 'Session' | 'Usage' | 'Token' | 'Metrics'

export type Access = {
  verb: AccessVerb
  kind: AccessKind
  /** Absent: of the whole service. */
  namespace?: string
  name?: string
}

/** `reason` in words for the caller. */
export type Decision = { allowed: true } | { allowed: false; reason: string }
