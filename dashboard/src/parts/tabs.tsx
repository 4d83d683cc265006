import { useEffect, useRef } from 'react'
import { Link, useSearchParams } from 'react-router'
import './tabs.css'

/** Parts of a page; which one is shown stands in the address as `tab`, the first one's name is empty. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly { name: string; title: string }[] }) {
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
      {tabs.map(({ name, title }) => (
        <Link key={name} to={addressOf(parameters, name)} replace aria-current={name === current ? 'page' : undefined}>
          {title}
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
