// The authorization decision as a guard: passes, or Forbidden with the reason.
import { SvcError } from '../errors.ts'
import type { Caller } from '../ports/identity.ts'
import { type Access, authorize, resolveNamespace } from '../rules/permission.ts'

/** Forbidden when the caller may not. */
export function requireAccess(caller: Caller, access: Access): void {
  const decision = authorize(caller, access)
  if (!decision.allowed) throw new SvcError('Forbidden', decision.reason)
}

/** The namespace a request acts in. */
export function namespaceOf(caller: Caller, named: string | undefined): string {
  return resolveNamespace(caller, named)
}
