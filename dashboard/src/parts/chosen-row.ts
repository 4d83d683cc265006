// The row that keys act on: an object, not a place. What comes and goes above it does not put another one under a key that is on its way.
import { useState } from 'react'

type Chosen = { key: string | undefined; at: number }

export function useChosenRow<T>(items: readonly T[], keyOf: (item: T) => string) {
  const [{ key, at }, setChosen] = useState<Chosen>({ key: undefined, at: -1 })
  const isAt = (item: T | undefined) => item !== undefined && keyOf(item) === key
  const place = isAt(items[at]) || key === undefined ? at : items.findIndex(isAt)
  return {
    key,
    item: items[place],
    /** Chooses the one so many rows on, and returns its place. Where the chosen one is gone, the next one is what came to its place. */
    step(by: number): number {
      const gone = by > 0 ? at - 1 : at
      const next = Math.min(items.length - 1, Math.max(0, (place < 0 ? gone : place) + by))
      const item = items[next]
      if (item !== undefined) setChosen({ key: keyOf(item), at: next })
      return next
    },
  }
}
