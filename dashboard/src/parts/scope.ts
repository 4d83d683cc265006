// Which namespaces the lists show. It stands in the address as `ns`, so that a link shows the same to whoever may see it.
import { type ContextType, useCallback, useContext } from 'react'
import { UNSAFE_DataRouterContext as DataRouterContext, useSearchParams } from 'react-router'
import { useCaller } from '../session/caller.ts'

export type Scope = {
  /** Absent: all that the caller may see. */
  namespace: string | undefined
  /** The same as the query of a list. */
  query: { namespace: string } | { allNamespaces: true }
  /** Where something new is made. */
  home: string
  /** The only namespace there is for this caller. */
  isFixed: boolean
}

export function useScope(): Scope {
  const { boundNamespace, namespace: own } = useCaller()
  const [parameters] = useSearchParams()
  const namespace = boundNamespace ?? parameters.get('ns') ?? undefined
  return {
    namespace,
    query: namespace === undefined ? { allNamespaces: true } : { namespace },
    home: namespace ?? own ?? 'default',
    isFixed: boundNamespace !== undefined,
  }
}

/** Parameters of the address that is shown, or is being gone to. */
function readParameters({ state }: Router): URLSearchParams {
  return new URLSearchParams((state.navigation.location ?? state.location).search)
}

type Router = NonNullable<ContextType<typeof DataRouterContext>>['router']

/** Reads and changes the parameters of the address, such as the filters of a list; an empty value removes one. */
export function useParameters(): [URLSearchParams, (changes: Record<string, string | undefined>) => void] {
  const [parameters, setParameters] = useSearchParams()
  const router = useContext(DataRouterContext)?.router
  const change = useCallback(
    (changes: Record<string, string | undefined>) => {
      // Of two changes in quick succession the second one is made before the first is drawn.
      const next = router === undefined ? new URLSearchParams() : readParameters(router)
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined || value === '') next.delete(name)
        else next.set(name, value)
      }
      setParameters(next, { replace: true })
    },
    [router, setParameters],
  )
  return [parameters, change]
}

/** The address that is shown, with this parameter instead. */
export function useOwnPath(): (changes: Record<string, string>) => string {
  const [parameters] = useSearchParams()
  return (changes) => `?${new URLSearchParams({ ...Object.fromEntries(parameters), ...changes })}`
}

/** The address with the namespace that is looked at. */
export function useScopedPath(): (path: string) => string {
  const [parameters] = useSearchParams()
  const namespace = parameters.get('ns')
  return (path) => (namespace === null ? path : `${path}?ns=${encodeURIComponent(namespace)}`)
}

/** An address with one more parameter. */
export function withQuery(address: string, parameter: string): string {
  return `${address}${address.includes('?') ? '&' : '?'}${parameter}`
}
