// What grows at its end stays in sight there, unless somebody reads further up.
import { useLayoutEffect, useRef } from 'react'

const nearPx = 60

export function useStayAtEnd(grows: unknown) {
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of what grows
  useLayoutEffect(() => {
    const element = scroller.current
    if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight
  }, [grows])
  function onScroll(): void {
    const element = scroller.current
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearPx
  }
  return { scroller, onScroll }
}
