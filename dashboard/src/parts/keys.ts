// Single keys that do something on a page.
import { type RefObject, useEffect, useRef } from 'react'

/** Keys are then meant for a control, or for a command of the browser. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement
  return (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    target.closest('input:not([type="checkbox"]), textarea, select, dialog') !== null
  )
}

/** Not while something is typed or a dialog asks. A key that is held down acts once, unless it `repeats`. */
export function useKeys(keys: Readonly<Record<string, () => void>>, repeats = false): void {
  const newest: RefObject<typeof keys> = useRef(keys)
  useEffect(() => {
    newest.current = keys
  })
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const run = newest.current[event.key]
      if (run === undefined || isTyping(event)) return
      event.preventDefault()
      if (repeats || !event.repeat) run()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [repeats])
}
