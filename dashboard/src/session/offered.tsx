import type { ReactNode } from 'react'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { useMay } from './caller.ts'

/** What calls the route: there only for those who may. */
export function Offered({ to, children }: { to: Pick<Route, 'verb'>; children: ReactNode }) {
  return useMay(to) ? children : null
}
