import type { ReactNode } from 'react'
import './facts.css'

/** Names and values; those without a value are left out. */
export function Facts({ of }: { of: [name: string, value: ReactNode][] }) {
  const known = of.filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
  return (
    <dl className="facts">
      {known.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
