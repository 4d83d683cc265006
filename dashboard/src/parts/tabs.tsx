import { NavLink } from 'react-router'

/** Each tab has an address of its own, relative to the page's. The first one's `to` is `.`. */
export function Tabs({ label, tabs }: { label: string; tabs: { to: string; title: string }[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ to, title }) => (
        <NavLink key={to} to={to} end={to === '.'}>
          {title}
        </NavLink>
      ))}
    </nav>
  )
}
