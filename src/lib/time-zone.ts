// Time zones as the runtime knows them: how far their clocks are from UTC, and when that changes. Times are Unix milliseconds; a clock's
// time is the Unix time at which a clock in UTC shows the same.

const dayMs = 86_400_000

/** True for a time zone that this runtime knows, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

export class ZoneClock {
  readonly #format: Intl.DateTimeFormat
  /** By years since 1970. */
  readonly #changes = new Map<number, readonly number[]>()

  /** RangeError for a name that the runtime does not know. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset', year: 'numeric' })
  }

  /** What its clocks are ahead of UTC, in milliseconds. */
  offsetAt(time: number): number {
    const found = /GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(this.#format.format(time))
    if (found === null) return 0
    const [, sign, hours, minutes, seconds = 0] = found
    return (sign === '-' ? -1000 : 1000) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds))
  }

  /** The first moment after `from`, and not after `to`, at which its clocks are put forward or back. */
  changeBetween(from: number, to: number): number | undefined {
    const yearMs = 365 * dayMs
    for (let year = Math.floor(from / yearMs); year * yearMs <= to; year += 1) {
      const found = this.#changesOf(year, yearMs).find((change) => change > from)
      if (found !== undefined) return found <= to ? found : undefined
    }
    return undefined
  }

  #changesOf(year: number, yearMs: number): readonly number[] {
    const known = this.#changes.get(year)
    if (known !== undefined) return known
    const changes: number[] = []
    let before = this.offsetAt(year * yearMs)
    for (let day = year * yearMs; day < (year + 1) * yearMs; day += dayMs) {
      const after = this.offsetAt(day + dayMs)
      if (after !== before) changes.push(this.#findChange(day, day + dayMs, before))
      before = after
    }
    this.#changes.set(year, changes)
    return changes
  }

  #findChange(from: number, to: number, before: number): number {
    let [low, high] = [from, to]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.offsetAt(middle) === before) low = middle
      else high = middle
    }
    return high
  }

  /** When its clocks show this for the first time; of a time that they leap over: when they leap. */
  firstTimeOf(clockTime: number): number {
    const [early, late] = [clockTime - dayMs, clockTime + dayMs]
    const before = clockTime - this.offsetAt(early)
    const change = this.changeBetween(early, late)
    if (change === undefined || before < change) return before
    return Math.max(change, clockTime - this.offsetAt(late))
  }
}
