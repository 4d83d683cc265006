// How long things last that began at a stamp of the wall clock: that clock may jump while they last.
import { BoundedMap } from './bounded-map.ts'
import { type Clock, monotonicMs } from './clock.ts'

const maxWatched = 10_000

type Seen = { start: string; lastedMs: number; at: number }

/**
 * The moment up to which something has lasted that began at `start`: measured from the first time that it is asked for, so that
 * later jumps of the wall clock change nothing. `id` names it; a new start begins anew.
 */
export type Stopwatches = {
  momentOf(id: string, start: string): Date
  /** The same for what ends at a stamp: the moment when `id` was first asked for, and what has passed since then. */
  momentSince(id: string): Date
}

export function createStopwatches(clock: Pick<Clock, 'now' | 'monotonic'>): Stopwatches {
  const watched = new BoundedMap<string, Seen>({ max: maxWatched })
  function momentOf(id: string, start: string): Date {
    const begun = Date.parse(start)
    let seen = watched.touch(id)
    if (seen?.start !== start) {
      seen = { start, lastedMs: Math.max(0, clock.now().getTime() - begun), at: monotonicMs(clock) }
      watched.set(id, seen)
    }
    return new Date(begun + seen.lastedMs + monotonicMs(clock) - seen.at)
  }
  return {
    momentOf,
    momentSince: (id) => momentOf(id, watched.touch(id)?.start ?? clock.now().toISOString()),
  }
}
