// Which namespaces callers act in, by the flags of the service: those that are watched, and each caller's own.
import type { Access, Decision } from '../../contract/access.ts'
import { SvcError } from '../../errors.ts'
import type { Authenticator, Authorizer, Caller } from '../../ports/identity.ts'
import { isOwner } from '../../rules/permission.ts'

export type NamespacePolicy = {
  /** `--watch-namespace`: no others are served; empty: all are. */
  served: readonly string[]
  /** `--enforce-namespace-isolation`: everybody but the owner stays in their own. */
  isolated: boolean
}

const allowed: Decision = { allowed: true }

/** Forbidden for somebody who has no namespace to stay in. */
function placeCaller(caller: Caller, { served, isolated }: NamespacePolicy): Caller {
  const own = caller.boundNamespace ?? caller.namespace
  if (isolated && !isOwner(caller)) {
    if (own === undefined)
      throw new SvcError('Forbidden', 'namespace-bound identity required: this service keeps callers apart')
    return { ...caller, namespace: own, boundNamespace: own }
  }
  const [first] = served
  return own === undefined && first !== undefined ? { ...caller, namespace: first } : caller
}

/** Callers as the flags place them; the same object for the same caller, since others remember by it. */
export function placeCallers(inner: Authenticator, policy: NamespacePolicy): Authenticator {
  const placed = new WeakMap<Caller, Caller>()
  return {
    async authenticate(credential) {
      const caller = await inner.authenticate(credential)
      const known = placed.get(caller)
      if (known !== undefined) return known
      const found = placeCaller(caller, policy)
      placed.set(caller, found)
      return found
    },
  }
}

function listNames(served: readonly string[]): string {
  const names = served.map((name) => `"${name}"`)
  return names.length === 1 ? `${names} is` : `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are`
}

/** Refuses every namespace but those that are served, whoever asks; all else is the next one's. */
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
