import type { ReactNode } from 'react'
import { Link } from 'react-router'
import './button.css'

/** A link that looks like a button: it leads to where something is done. */
export function LinkButton({ to, isMain = false, children }: { to: string; isMain?: boolean; children: ReactNode }) {
  return (
    <Link className="button text-link plain-link" data-look={isMain ? 'main' : undefined} to={to}>
      {children}
    </Link>
  )
}
