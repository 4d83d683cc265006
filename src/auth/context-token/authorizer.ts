// Checks the scopes and constraints of a context token; whatever passes, and all other callers, go to the next
// authorizer.
import type { Access, Decision } from '../../contract/api/identity/access.ts'
import type { Authorizer, Caller } from '../../ports/identity/identity.ts'
import { type ContextDecision, type ContextRules, decideContext } from '../../rules/identity/context-token.ts'

export type ContextAuthorization = {
  action: string
  result: 'allowed' | 'denied' | 'audit'
  reason: ContextDecision['cause']
  caller: Caller
  access: Access
}

export type ContextAuthorizerOptions = {
  rules: ContextRules
  /** RBAC and the protected namespaces in Kubernetes mode. */
  next?: Authorizer
  /**
   * Called with each decision, except those on entries of a list, for log and metrics; `audit`: it would have been
   * denied.
   */
  observe?: (authorization: ContextAuthorization) => void
}

const allowed: Decision = { allowed: true }

export function createContextAuthorizer({ rules, next, observe }: ContextAuthorizerOptions): Authorizer {
  function report(authorization: ContextAuthorization): void {
    if (authorization.access.entry !== true) observe?.(authorization)
  }

  function decide(caller: Caller, access: Access): Decision {
    const { transaction } = caller
    if (transaction === undefined) return { allowed: false, reason: 'context token without a transaction' }
    const decision = decideContext(transaction, access, rules)
    const { action, cause: reason } = decision
    const result = decision.allowed ? 'allowed' : rules.mode === 'audit' ? 'audit' : 'denied'
    report({ action, result, reason, caller, access })
    return result === 'denied' ? decision : allowed
  }

  return {
    async authorize(caller, access) {
      const isAsked = caller.authType === 'contextToken' && rules.mode !== 'off'
      const decision = isAsked ? decide(caller, access) : allowed
      return decision.allowed ? ((await next?.authorize(caller, access)) ?? allowed) : decision
    },
  }
}
