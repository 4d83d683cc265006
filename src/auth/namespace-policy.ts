// Which namespaces callers may use, by the flags of the service: the served ones, and each caller's own.
import type { Access, Decision } from '../contract/api/identity/access.ts'
import { SvcError } from '../errors.ts'
import type { Authenticator, Authorizer, Caller } from '../ports/identity/identity.ts'
import { isOwner } from '../rules/identity/permission.ts'

export type NamespacePolicy = {
  /** `--watch-namespace`: only these are served; empty: all. */
  served: readonly string[]
  /** `--enforce-namespace-isolation`: everybody stays in their own, except the owner and callers of issuers for whom RBAC decides. */
  isolated: boolean
}

const allowed: Decision = { allowed: true }

/** Whoever an issuer vouches for has no namespace of their own on a cluster whose RBAC decides: their RoleBindings say where they work. */
function isBoundByRoles({ authType, cluster }: Caller): boolean {
  return cluster !== undefined && authType !== 'tokenReview'
}

/** Forbidden for a caller without a namespace. */
function assignNamespace(caller: Caller, { served, isolated }: NamespacePolicy): Caller {
  const own = caller.boundNamespace ?? caller.namespace
  if (isolated && !isOwner(caller) && !isBoundByRoles(caller)) {
    if (own === undefined)
      throw new SvcError('Forbidden', 'namespace-bound identity required: this service isolates callers')
    return { ...caller, namespace: own, boundNamespace: own }
  }
  const [first] = served
  return own === undefined && first !== undefined ? { ...caller, namespace: first } : caller
}

/** Applies the flags to callers; returns the same object for the same caller, because caches use it as a key. */
export function assignNamespaces(inner: Authenticator, policy: NamespacePolicy): Authenticator {
  const assigned = new WeakMap<Caller, Caller>()
  return {
    async authenticate(credential) {
      const caller = await inner.authenticate(credential)
      const known = assigned.get(caller)
      if (known !== undefined) return known
      const found = assignNamespace(caller, policy)
      assigned.set(caller, found)
      return found
    },
  }
}

function listNames(served: readonly string[]): string {
  const names = served.map((name) => `"${name}"`)
  return names.length === 1 ? `${names} is` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are`
}

/** Refuses every namespace that is not served, whoever asks; the next authorizer decides the rest. */
export function guardNamespace(served: readonly string[], next: Authorizer | undefined): Authorizer {
  return {
    async authorize(caller: Caller, access: Access) {
      const { namespace } = access
      if (namespace === undefined || served.includes(namespace))
        return (await next?.authorize(caller, access)) ?? allowed
      return {
        allowed: false,
        reason: `namespace not allowed: "${namespace}" is not served here, but ${listNames(served)}`,
      }
    },
  }
}
