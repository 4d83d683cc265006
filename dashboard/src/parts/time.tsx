// Moments and spans. "3 min ago" is kept true by one clock of the page, which goes by that of the service.
import { useSyncExternalStore } from 'react'
import { serviceNow } from '../data/clock.ts'

const tickMs = 1000
let now = serviceNow()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function tick(): void {
  now = serviceNow()
  for (const each of listeners) each()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    now = serviceNow()
    timer = setInterval(tick, tickMs)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** What `read` says of the moment, in milliseconds since 1970; drawn again only when that changes. */
function useMoment(read: (now: number) => string): string {
  return useSyncExternalStore(subscribe, () => read(now))
}

/** Milliseconds since 1970 by the clock of the service, to the second. */
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

/** The same to the second, for what runs: `3 min 7 s`. */
export function describeRunning(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60 || seconds >= 3600) return describeSpan(seconds * 1000).replace('0 ms', '0 s')
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Two clocks are never quite the same: what has just been written is not yet to come. */
const skewMs = 2500

/** How long ago a moment is, or in how long it comes. */
export function describeAgo(moment: number, now: number): string {
  const ms = now - moment
  if (ms < -skewMs) return `in ${describeSpan(-ms)}`
  return ms < 10_000 ? 'just now' : `${describeSpan(ms)} ago`
}

/** How long ago an RFC 3339 time is, with the time itself when pointed at. */
export function Ago({ at }: { at: string | undefined }) {
  const moment = Date.parse(at ?? '')
  const words = useMoment((now) => describeAgo(moment, now))
  if (at === undefined) return <span className="soft">–</span>
  return (
    <time dateTime={at} title={new Date(moment).toLocaleString()} className="number">
      {words}
    </time>
  )
}

/** Milliseconds from one RFC 3339 time to another, or to now. */
export function spanOf(from: string | undefined, to: string | undefined): number | undefined {
  return from === undefined ? undefined : (to === undefined ? serviceNow() : Date.parse(to)) - Date.parse(from)
}

/** From one RFC 3339 time to another, or to now. */
export function Span({ from, to }: { from: string | undefined; to: string | undefined }) {
  const start = Date.parse(from ?? '')
  const words = useMoment((now) =>
    to === undefined ? describeRunning(now - start) : describeSpan(Math.max(0, Date.parse(to) - start)),
  )
  if (from === undefined) return <span className="soft">–</span>
  const moments = [from, to].map((moment) => (moment === undefined ? 'now' : new Date(moment).toLocaleString()))
  return (
    <span className="number" title={moments.join(' – ')}>
      {words}
    </span>
  )
}
