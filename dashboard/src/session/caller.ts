// Who is signed in, for everything below.
import { createContext, useContext } from 'react'
import { minRoleOf, reachesRole } from '../../../src/contract/api/identity/access.ts'
import type { Whoami } from '../../../src/contract/api/identity/auth.ts'
import type { Route, RouteVerb } from '../../../src/contract/api/resources/route.ts'

export const CallerContext = createContext<Whoami | undefined>(undefined)

/** Undefined until the service has said who it is. */
export function useKnownCaller(): Whoami | undefined {
  return useContext(CallerContext)
}

export function useCaller(): Whoami {
  const caller = useContext(CallerContext)
  if (caller === undefined) throw new Error('nobody is signed in here')
  return caller
}

/** Whether the role of the caller is enough. Where the RBAC of a cluster decides, only an answer of the service tells. */
export function isAllowed({ role }: Whoami, verb: RouteVerb | undefined): boolean {
  return role === undefined || verb === undefined || reachesRole(role, minRoleOf(verb))
}

/** The same for the caller of this page, and the right that a route asks for. */
export function useMay({ verb }: Pick<Route, 'verb'>): boolean {
  return isAllowed(useCaller(), verb)
}
