// What the frame knows of the views. The table of them lies beside main.tsx, since the frame itself imports none.
import { type ComponentType, createContext, useContext } from 'react'
import type { RouteVerb } from '../../../src/contract/api/resources/route.ts'
import type { IconName } from '../parts/icon.tsx'
import { isAllowed, useKnownCaller } from '../session/caller.ts'

export const viewGroups = ['Work', 'Code', 'Catalogue', 'Service'] as const

export type View = {
  /** Without a slash at its beginning; empty for the first one. */
  path: string
  title: string
  icon: IconName
  group: (typeof viewGroups)[number]
  /** The right without which there is nothing to see on it. */
  needs?: RouteVerb
  load: () => Promise<{ default: ComponentType }>
}

/** A page below a view, which no navigation names. */
export type DetailPage = Pick<View, 'path' | 'load'>

export const ViewsContext = createContext<readonly View[]>([])

/** Those in which the caller may see something; until it is known who that is, those that are open to everybody. */
export function useOfferedViews(): View[] {
  const caller = useKnownCaller()
  return useContext(ViewsContext).filter(({ needs }) =>
    caller === undefined ? needs === undefined : isAllowed(caller, needs),
  )
}
