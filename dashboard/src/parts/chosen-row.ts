// The row that keys act on: an object, not a place. What comes and goes above it does not put another one under a key that is on its way.
import { useState } from 'react'

/** `key`: undefined as long as what is at that place was not read. */
type Chosen = { key: string | undefined; at: number }

/** `total`: how many there are, those that were not read yet included. */
export function useChosenRow<T>(items: readonly T[], total: number, keyOf: (item: T) => string) {
  const [{ key, at }, setChosen] = useState<Chosen>({ key: undefined, at: -1 })
  const read = items[at]
  if (key === undefined && read !== undefined) setChosen({ key: keyOf(read), at })
  const isAt = (item: T | undefined) => item !== undefined && keyOf(item) === key
  const place = isAt(items[at]) || key === undefined ? at : items.findIndex(isAt)
  return {
    place,
    item: key === undefined ? undefined : items[place],
    /** Chooses the one so many rows on, and returns its place. Where the chosen one is gone, the next one is what came to its place. */
    step(by: number): number {
      const gone = by > 0 ? at - 1 : at
      const next = Math.min(total - 1, Math.max(0, (place < 0 ? gone : place) + by))
      const item = items[next]
      setChosen({ key: item && keyOf(item), at: next })
      return next
    },
  }
}
