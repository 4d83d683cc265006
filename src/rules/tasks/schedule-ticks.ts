// When a cron expression fires in a time zone whose clocks change. The one rule, for tasks, monitors and scans:
//
// - With fixed hours (numbers, lists and ranges of them) it fires at the times that a clock shows. One that the clock leaps over fires
//   once, right after the leap, along with any other of the leap; one that the clock shows twice fires once, the first time.
// - With `*`, `?` or a step in the hour field it fires as time passes, whenever the clock shows a time that matches: never at one that
//   is leapt over, and twice at one that is shown twice.
// - Of days, both fields must match when one begins with `*` or `?`, else either (crontab(5)).

import { Cron } from 'croner'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { ZoneClock } from '../../lib/time-zone.ts'

/** The first tick after a moment, as Unix milliseconds; undefined: it never fires again. */
export type NextTick = (after: number) => number | undefined

const zones = new BoundedMap<string, ZoneClock>({ max: 100 })

function findZone(name: string): ZoneClock {
  const zone = zones.get(name) ?? new ZoneClock(name)
  zones.set(name, zone)
  return zone
}

/** The next time that a clock shows and the expression matches; of clocks that never change. */
function makeClockTimes(cron: string, days: { and: boolean }): NextTick {
  const times = new Cron(cron, { utcOffset: 0, paused: true, domAndDow: days.and })
  return (after) => times.nextRun(new Date(after))?.getTime()
}

function makeFixedTicks(zone: ZoneClock, next: NextTick): NextTick {
  return (after) => {
    for (let shown = next(after + zone.offsetAt(after)); shown !== undefined; shown = next(shown)) {
      const tick = zone.firstTimeOf(shown)
      if (tick > after) return tick
    }
    return undefined
  }
}

function makeElapsedTicks(zone: ZoneClock, next: NextTick): NextTick {
  return (after) => {
    let [since, offset] = [after, zone.offsetAt(after)]
    let shown = next(since + offset)
    while (shown !== undefined) {
      const change = zone.changeBetween(since, shown - offset)
      if (change === undefined) return shown - offset
      since = change
      offset = zone.offsetAt(change)
      shown = next(change + offset - 1)
    }
    return undefined
  }
}

/** `cron`: five fields, as `parseSchedule` gives them. */
export function makeCronTicks(cron: string, timeZone: string): NextTick {
  const [, hour = '', dayOfMonth = '', , dayOfWeek = ''] = cron.split(/\s+/)
  const next = makeClockTimes(cron, { and: [dayOfMonth, dayOfWeek].some((days) => /^[*?]/.test(days)) })
  return (/[*?/]/.test(hour) ? makeElapsedTicks : makeFixedTicks)(findZone(timeZone), next)
}

/** Each `everyMs` from `base` on. */
export function makeIntervalTicks(everyMs: number, base: number): NextTick {
  return (after) => base + Math.max(1, Math.floor((after - base) / everyMs) + 1) * everyMs
}

/** The last tick after `from` and not after `now`. It is found by halves: however many there are, few are asked for. */
export function findLatestTick(next: NextTick, from: number, now: number): number | undefined {
  let latest: number | undefined
  let [low, high] = [from, now]
  while (low < high) {
    const middle = latest === undefined ? low : Math.floor((low + high) / 2)
    const tick = next(middle)
    if (tick !== undefined && tick <= now) latest = low = tick
    else high = middle
  }
  return latest
}
