import type { ReactNode } from 'react'
import { LinkButton } from '../../parts/link-button.tsx'
import { useScopedPath } from '../../parts/scope.ts'
import { Empty } from '../../parts/states.tsx'
import { Offered } from '../../session/offered.tsx'
import { type ObjectPath, objectKind, routesOf } from './object-kinds.ts'

export function MakeLink({ path }: { path: ObjectPath }) {
  const scoped = useScopedPath()
  return (
    <Offered to={routesOf(path).create}>
      <LinkButton isMain to={scoped(`/${path}/new`)}>
        Create {objectKind(path).noun}
      </LinkButton>
    </Offered>
  )
}

/** There are none of the kind: what it is, and how to make one. */
export function NothingYet({ path, children }: { path: ObjectPath; children: ReactNode }) {
  const { noun } = objectKind(path)
  return (
    <Empty title={`There is no ${noun} yet`}>
      <p style={{ maxWidth: 480 }}>{children}</p>
      <MakeLink path={path} />
    </Empty>
  )
}
