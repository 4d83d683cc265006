// A link to an address that others wrote: only to where a browser can go safely.
import type { ReactNode } from 'react'
import { Foreign } from './foreign.tsx'

export function OutsideLink({ to, children }: { to: string | undefined; children?: ReactNode }) {
  if (to === undefined) return null
  const words = children ?? <Foreign text={to} />
  if (!/^https?:\/\//i.test(to)) return words
  return (
    <a className="text-link" href={to} target="_blank" rel="noreferrer noopener">
      {words}
    </a>
  )
}
