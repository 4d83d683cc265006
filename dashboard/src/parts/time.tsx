// Moments and spans. "3 min ago" is kept true by one clock of the page.
import { useSyncExternalStore } from 'react'

const tickMs = 10_000
let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, tickMs)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** Milliseconds since 1970, a few seconds old at most. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}

const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const

/** `850 ms`, `12 s`, `3 min`, `2 h 5 min`, `4 d 3 h`. */
export function describeSpan(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const seconds = Math.round(ms / 1000)
  const index = units.findIndex(([, size]) => seconds >= size)
  const [unit, size] = units[index] ?? ['s', 1]
  const next = index < 0 ? undefined : units[index + 1]
  const rest = next === undefined ? 0 : Math.floor((seconds % size) / next[1])
  return `${Math.floor(seconds / size)} ${unit}${next && rest > 0 ? ` ${rest} ${next[0]}` : ''}`
}

/** How long ago an RFC 3339 time is, with the time itself when pointed at. */
export function Ago({ at }: { at: string | undefined }) {
  const current = useNow()
  if (at === undefined) return <span className="soft">–</span>
  const moment = Date.parse(at)
  const ms = current - moment
  const words = ms < -1000 ? `in ${describeSpan(-ms)}` : ms < 10_000 ? 'just now' : `${describeSpan(ms)} ago`
  return (
    <time dateTime={at} title={new Date(moment).toLocaleString()} className="number">
      {words}
    </time>
  )
}

/** From one RFC 3339 time to another, or to now. */
export function Span({ from, to }: { from: string | undefined; to: string | undefined }) {
  const current = useNow()
  if (from === undefined) return <span className="soft">–</span>
  const end = to === undefined ? current : Date.parse(to)
  return <span className="number">{describeSpan(Math.max(0, end - Date.parse(from)))}</span>
}
