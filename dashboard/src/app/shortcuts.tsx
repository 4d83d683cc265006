// Keys that work on every page, and where the focus is on a new one.
import { type RefObject, useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { Dialog } from '../parts/dialog.tsx'
import { useKeys } from '../parts/keys.ts'
import { useCreation } from './creations.ts'
import './command-palette.css'

const keys = [
  ['Ctrl K', 'Search and commands'],
  ['c', 'Create: what the list shows, else a task'],
  ['/', 'To the filter of the page'],
  ['?', 'These keys'],
  ['j  k', 'Next and previous row'],
  ['Enter', 'Open the chosen row'],
  ['Space', 'Mark the chosen row'],
  ['Ctrl Enter', 'Send the form'],
  ['Esc', 'Close a dialog, stop an answer'],
] as const

export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="key-list">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(/ +/).map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

/** Ctrl K, or Command K, from anywhere. */
export function usePalette() {
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

/** Ctrl Enter sends the form in which one types. */
function useSending(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented) return
      const form = (event.target as HTMLElement).closest('form')
      if (form === null) return
      event.preventDefault()
      form.requestSubmit()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

/** `c` creates, `/` filters, `?` shows the keys. */
export function Shortcuts({ main, onKeys }: { main: RefObject<HTMLElement | null>; onKeys: () => void }) {
  const create = useCreation()
  const { pathname } = useLocation()
  useSending()
  useKeys({
    c: () => create(pathname),
    '/': () => {
      const seek = (selector: string) => main.current?.querySelector<HTMLElement>(selector)
      const filter = seek('input[type=search]') ?? seek('select')
      filter?.focus()
    },
    '?': onKeys,
  })
  return null
}

const field = 'form :is(input:not([type=hidden], [type=checkbox], [type=radio]), textarea)'

/** After going to another page: to the first field of a form that creates something, else to the heading. */
export function useFocusOfPage(main: RefObject<HTMLElement | null>): void {
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    const page = main.current
    // A page may have chosen itself.
    if (page === null || (page !== document.activeElement && page.contains(document.activeElement))) return
    const first = pathname.endsWith('/new') ? page.querySelector<HTMLElement>(field) : null
    const target = first ?? page.querySelector<HTMLElement>('h1')
    target?.focus({ preventScroll: true })
  }, [pathname, main])
}
