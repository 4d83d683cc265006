// A form for those who may send it: nobody fills in what will be refused.
import type { ReactNode } from 'react'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { useCaller, useMay } from '../session/caller.ts'
import { Foreign } from './foreign.tsx'
import { Empty } from './states.tsx'

/** `what` goes on from "may not": `create tasks`. */
export function Permitted({ to, what, children }: { to: Pick<Route, 'verb'>; what: string; children: ReactNode }) {
  const { username, role } = useCaller()
  if (useMay(to)) return children
  return (
    <Empty title={`Your role may not ${what}`}>
      <p>
        You are signed in as <Foreign text={username} most={200} /> with the role {role}. Ask whoever runs this service
        for the right, or sign in as somebody else.
      </p>
    </Empty>
  )
}
