// What stands around every page: navigation, namespace, search, the state of the live stream.
import { Suspense, useEffect, useRef, useState } from 'react'
import { NavLink, Outlet, useLocation } from 'react-router'
import type { Whoami } from '../../../src/contract/api/identity/auth.ts'
import { useCallerQuery } from '../data/caller-query.ts'
import { useLiveState, useLiveStream } from '../data/live.ts'
import { Button } from '../parts/button.tsx'
import { Foreign } from '../parts/foreign.tsx'
import { Icon } from '../parts/icon.tsx'
import { useScopedPath } from '../parts/scope.ts'
import { Failure, Loading } from '../parts/states.tsx'
import { switchTheme, useTheme } from '../parts/theme.ts'
import { useKnownCaller } from '../session/caller.ts'
import { signOut } from '../sign-in/sign-out.ts'
import { AlertNotices } from './alert-notices.tsx'
import { CommandPalette } from './command-palette.tsx'
import { NamespaceChoice } from './namespace-choice.tsx'
import { PageBar, ReachNotice } from './reach-notice.tsx'
import { KeysDialog, Shortcuts, useFocusOfPage, usePalette } from './shortcuts.tsx'
import { useOfferedViews, viewGroups } from './views.ts'
import './shell.css'

export function Shell() {
  const caller = useKnownCaller()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = usePalette()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  useFocusOfPage(main)
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
      <TopBar
        hasScope={caller !== undefined}
        isMenuOpen={isMenuOpen}
        onMenu={() => setMenuOpen(!isMenuOpen)}
        onPalette={() => setPaletteOpen(true)}
      />
      {caller !== undefined && <Live caller={caller} />}
      <PageBar />
      <div className="content">
        <ReachNotice />
        <main id="main" ref={main} className="main" tabIndex={-1}>
          {caller === undefined ? (
            <Unknown />
          ) : (
            <Suspense fallback={null}>
              <Outlet />
            </Suspense>
          )}
        </main>
      </div>
      {caller !== undefined && <Shortcuts main={main} onKeys={() => setHelpOpen(true)} />}
      {isPaletteOpen && caller !== undefined && (
        <CommandPalette onClose={() => setPaletteOpen(false)} onKeys={() => setHelpOpen(true)} />
      )}
      {isHelpOpen && <KeysDialog onClose={() => setHelpOpen(false)} />}
    </div>
  )
}

type TopBarProps = { hasScope: boolean; isMenuOpen: boolean; onMenu: () => void; onPalette: () => void }

function TopBar({ hasScope, isMenuOpen, onMenu, onPalette }: TopBarProps) {
  return (
    <header className="top">
      <Button
        look="plain"
        className="icon-button menu-button"
        aria-label="Menu"
        aria-expanded={isMenuOpen}
        onClick={onMenu}
      >
        <Icon name="menu" />
      </Button>
      <Button className="palette-opener" onClick={onPalette}>
        <span className="row">
          <Icon name="search" /> <span className="words">Search and commands</span>
        </span>
        <kbd>Ctrl K</kbd>
      </Button>
      <span className="grow" />
      <LiveMark />
      {hasScope && <NamespaceChoice />}
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
  )
}

/** What runs while somebody is signed in. */
function Live({ caller }: { caller: Whoami }) {
  useLiveStream(caller)
  return <AlertNotices />
}

/** In the place of a page, until it is known who is signed in. */
function Unknown() {
  const { error, refetch } = useCallerQuery()
  return (
    <div className="page">
      {error === null ? <Loading what="the page" /> : <Failure error={error} retry={() => void refetch()} />}
    </div>
  )
}

function Side({ isOpen }: { isOpen: boolean }) {
  const scoped = useScopedPath()
  const caller = useKnownCaller()
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
        <Foreign text={caller?.username} most={200} />
        {caller?.role !== undefined && caller.role !== caller.username && ` · ${caller.role}`}
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
