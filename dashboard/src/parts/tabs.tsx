import { useEffect, useRef } from 'react'
import { Link, useSearchParams } from 'react-router'
import { formatCount } from './usage-facts.tsx'
import './tabs.css'

/** A part of the page; the first one's name is empty. `count`: how many there are of what is on it. */
type Tab = { name: string; title: string; count?: number | undefined }

/** Parts of a page; which one is shown stands in the address as `tab`. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const [parameters] = useSearchParams()
  const current = parameters.get('tab') ?? ''
  const bar = useRef<HTMLElement>(null)
  // On a narrow screen the chosen one may be out of sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever another is chosen
  useEffect(() => {
    bar.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  return (
    <nav ref={bar} className="tabs" aria-label={label}>
      {tabs.map(({ name, title, count = 0 }) => (
        <Link key={name} to={addressOf(parameters, name)} replace aria-current={name === current ? 'page' : undefined}>
          {title}
          {count > 0 && <span className="tab-count number">{formatCount(count)}</span>}
        </Link>
      ))}
    </nav>
  )
}

function addressOf(parameters: URLSearchParams, name: string): string {
  const next = new URLSearchParams(parameters)
  next.delete('tab')
  if (name !== '') next.set('tab', name)
  return `?${next}`
}
