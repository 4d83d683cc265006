// What stands around every page: navigation, namespace, search, the state of the live stream.
import { Suspense, useEffect, useRef, useState } from 'react'
import { NavLink, Outlet, useLocation } from 'react-router'
import { useLiveState, useLiveStream } from '../data/live.ts'
import { Button } from '../parts/button.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Icon } from '../parts/icon.tsx'
import { useScopedPath } from '../parts/scope.ts'
import { switchTheme, useTheme } from '../parts/theme.ts'
import { useCaller } from '../session/caller.ts'
import { signOut } from '../sign-in/sign-out.ts'
import { CommandPalette } from './command-palette.tsx'
import { NamespaceChoice } from './namespace-choice.tsx'
import { useOfferedViews, viewGroups } from './views.ts'
import './shell.css'

export function Shell() {
  useLiveStream(useCaller())
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = usePalette()
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // A new page begins at its top, and the menu has done its work.
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the page changes
  useEffect(() => {
    setMenuOpen(false)
    main.current?.scrollTo(0, 0)
  }, [pathname])
  return (
    <div className="shell">
      <a className="skip-link" href="#main">
        Skip to the page
      </a>
      <Side isOpen={isMenuOpen} />
      {isMenuOpen && (
        <button type="button" className="side-cover" aria-label="Close the menu" onClick={() => setMenuOpen(false)} />
      )}
      <header className="top">
        <Button
          look="plain"
          className="icon-button menu-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name="menu" />
        </Button>
        <Button className="palette-opener" onClick={() => setPaletteOpen(true)}>
          <span className="row">
            <Icon name="search" /> <span className="words">Search and commands</span>
          </span>
          <kbd>Ctrl K</kbd>
        </Button>
        <span className="grow" />
        <LiveMark />
        <NamespaceChoice />
        <ThemeButton />
        <Button
          look="plain"
          className="icon-button"
          aria-label="Sign out"
          title="Sign out"
          onClick={() => void signOut()}
        >
          <Icon name="leave" />
        </Button>
      </header>
      <main id="main" ref={main} className="main" tabIndex={-1}>
        <Suspense fallback={null}>
          <Outlet />
        </Suspense>
      </main>
      {isPaletteOpen && <CommandPalette onClose={() => setPaletteOpen(false)} />}
    </div>
  )
}

/** Ctrl K, or Command K, from anywhere. */
function usePalette() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen(true)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return [isOpen, setOpen] as const
}

function Side({ isOpen }: { isOpen: boolean }) {
  const scoped = useScopedPath()
  const { username, role } = useCaller()
  const views = useOfferedViews()
  return (
    <nav className="side" aria-label="Pages" data-open={isOpen}>
      <span className="brand">
        <img src="/favicon.svg" alt="" width="26" height="26" /> svc
      </span>
      {viewGroups.map((group) => (
        <section key={group} aria-labelledby={`group-${group}`} hidden={!views.some((view) => view.group === group)}>
          <h2 id={`group-${group}`}>{group}</h2>
          <ul>
            {views
              .filter((view) => view.group === group)
              .map(({ path, title, icon }) => (
                <li key={path}>
                  <NavLink className="entry" to={scoped(`/${path}`)} end={path === ''}>
                    <Icon name={icon} /> {title}
                  </NavLink>
                </li>
              ))}
          </ul>
        </section>
      ))}
      <p className="soft cut" style={{ marginBlockStart: 'auto', paddingInline: 10 }}>
        <Foreign text={username} most={200} />
        {role !== undefined && role !== username && ` · ${role}`}
      </p>
    </nav>
  )
}

const liveWords = { connecting: 'Connecting', live: 'Live', away: 'Reconnecting' } as const

function LiveMark() {
  const state = useLiveState()
  return (
    <span className="live-state" data-state={state} role="status" title={liveWords[state]}>
      <span className="words">{liveWords[state]}</span>
    </span>
  )
}

function ThemeButton() {
  const theme = useTheme()
  const words = theme === 'dark' ? 'Use light colours' : 'Use dark colours'
  return (
    <Button look="plain" className="icon-button" aria-label={words} title={words} onClick={switchTheme}>
      <Icon name={theme === 'dark' ? 'light' : 'dark'} />
    </Button>
  )
}
