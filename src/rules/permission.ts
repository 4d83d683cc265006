// What a caller may do: the one decision that every edge asks for, and which namespace a request acts in.
import type { Access, AccessVerb, Decision } from '../contract/access.ts'

/** What a token allows; the part of a caller that decides. */
export type Rights = {
  authType?: string
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  readOnly: boolean
  /** The holder of the machine. */
  isOwner: boolean
  /** Present: the caller may have this provider act, and nothing else. */
  agent?: { provider: { namespace: string; name: string } }
  /** A model acts with the rights of this caller. */
  isModel?: boolean
}

const defaultNamespace = 'default'

const isWrite = (verb: AccessVerb) => verb !== 'get' && verb !== 'list'
const allow: Decision = { allowed: true }

function refuse(reason: string): Decision {
  return { allowed: false, reason }
}

/** The owner; on a cluster whoever it gives the right to. Nobody who is known by somebody else's word alone. */
function mayAudit({ isOwner, authType }: Rights): boolean {
  return isOwner || authType === 'tokenReview'
}

/** What some callers never reach, whatever they would do with it. */
function refuseKind(rights: Rights, kind: Access['kind']): Decision | undefined {
  if (kind === 'Audit' && !mayAudit(rights)) return refuse('only an administrator may read the audit log')
  if (kind === 'Token' && !rights.isOwner) return refuse('only the owner of the service may manage tokens')
  if (kind !== 'Secret' || !rights.isModel) return undefined
  return refuse('what a model makes may not name a secret; a person must name it')
}

/** Without a name it is asked before the name is known; then it is asked again. */
function authorizeAgent(provider: { namespace: string; name: string }, access: Access): Decision {
  const { verb, kind, namespace, name = provider.name } = access
  if (verb === 'use' && kind === 'Provider' && namespace === provider.namespace && name === provider.name) return allow
  return refuse(`this token is for calls of provider "${provider.name}" in namespace "${provider.namespace}" only`)
}

/** Whether the caller may do it, and if not, why in words for the caller. */
export function authorize(rights: Rights, access: Access): Decision {
  if (rights.agent !== undefined) return authorizeAgent(rights.agent.provider, access)
  const guarded = refuseKind(rights, access.kind)
  if (guarded !== undefined) return guarded
  if (rights.readOnly && isWrite(access.verb)) return refuse('this token can only read; use one that may write')
  const { boundNamespace } = rights
  if (boundNamespace === undefined || access.namespace === undefined || access.namespace === boundNamespace)
    return allow
  return refuse(`namespace not allowed: this token is bound to "${boundNamespace}", not "${access.namespace}"`)
}

/** The namespace of a request: the one it names, else the caller's own, else `default`. */
export function resolveNamespace(rights: Rights, named: string | undefined): string {
  return named ?? rights.boundNamespace ?? rights.namespace ?? defaultNamespace
}
