// Dark or light: as the system has it, unless somebody chose.
import { useSyncExternalStore } from 'react'
import { browserStore } from '../session/browser-store.ts'

export type Theme = 'light' | 'dark'

const key = 'svc.theme'
const listeners = new Set<() => void>()

function chosen(): Theme | undefined {
  const kept = browserStore.get(key)
  return kept === 'light' || kept === 'dark' ? kept : undefined
}

const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)')

function current(): Theme {
  return chosen() ?? (systemIsDark.matches ? 'dark' : 'light')
}

/** To be called before anything is drawn. */
export function applyTheme(): void {
  const theme = chosen()
  if (theme === undefined) delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export function switchTheme(): void {
  browserStore.set(key, current() === 'dark' ? 'light' : 'dark')
  applyTheme()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    systemIsDark.addEventListener('change', listener)
    return () => {
      listeners.delete(listener)
      systemIsDark.removeEventListener('change', listener)
    }
  }, current)
}
