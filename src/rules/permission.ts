// What a caller may do: the one decision that every edge asks for, and which namespace a request acts in.
import type { Access, AccessVerb, Decision } from '../contract/access.ts'

/** What a token allows; the part of a caller that decides. */
export type Rights = {
  /** The namespace the caller acts in when none is named. */
  namespace?: string
  /** Present: the caller may act in this namespace only. */
  boundNamespace?: string
  readOnly: boolean
  /** The holder of the machine. */
  isOwner: boolean
}

const defaultNamespace = 'default'

const isWrite = (verb: AccessVerb) => verb !== 'get' && verb !== 'list'
const allow: Decision = { allowed: true }

function refuse(reason: string): Decision {
  return { allowed: false, reason }
}

/** Whether the caller may do it, and if not, why in words for the caller. */
export function authorize(rights: Rights, access: Access): Decision {
  if (access.kind === 'Token' && !rights.isOwner) return refuse('only the owner of the service may manage tokens')
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
