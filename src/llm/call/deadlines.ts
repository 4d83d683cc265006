// Deadlines without a timer each: those of equal length form a queue, whose first is always the next to expire.
import { type Clock, monotonicMs } from '../../lib/clock.ts'
import { memoizeByObject } from '../../lib/memoize.ts'

/** Links are cut on removal, so that a removed entry keeps neither itself nor later ones alive. */
export class Deadline {
  readonly #row: Row
  onLate: (() => void) | undefined
  since: number
  before: Deadline | undefined
  after: Deadline | undefined

  constructor(row: Row, since: number, onLate: () => void) {
    this.#row = row
    this.since = since
    this.onLate = onLate
  }

  /** Restarts the time; does nothing once it is over. */
  renew(): void {
    if (this.onLate !== undefined) this.#row.renew(this)
  }

  cancel(): void {
    if (this.onLate === undefined) return
    this.onLate = undefined
    this.#row.cut(this)
  }
}

class Row {
  readonly #clock: Clock
  readonly #ms: number
  first: Deadline | undefined
  #last: Deadline | undefined

  constructor(clock: Clock, ms: number) {
    this.#clock = clock
    this.#ms = ms
  }

  append(deadline: Deadline): void {
    deadline.before = this.#last
    if (this.#last === undefined) this.first = deadline
    else this.#last.after = deadline
    this.#last = deadline
  }

  cut(deadline: Deadline): void {
    const { before, after } = deadline
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    deadline.before = undefined
    deadline.after = undefined
  }

  renew(deadline: Deadline): void {
    deadline.since = monotonicMs(this.#clock)
    if (deadline === this.#last) return
    this.cut(deadline)
    this.append(deadline)
  }

  /** Runs until the queue is empty. */
  async watch(onEnd: () => void): Promise<void> {
    try {
      for (let { first } = this; first !== undefined; first = this.first) {
        const left = first.since + this.#ms - monotonicMs(this.#clock)
        if (left > 0) await this.#clock.sleep(left)
        else expire(first)
      }
    } finally {
      onEnd()
    }
  }
}

function expire(deadline: Deadline): void {
  const { onLate } = deadline
  deadline.cancel()
  onLate?.()
}

const rowsOf = memoizeByObject((_clock: Clock) => new Map<number, Row>())

/** Calls `onLate` once, `ms` after the start or the last `renew`, unless it was cancelled. */
export function startDeadline(clock: Clock, ms: number, onLate: () => void): Deadline {
  const rows = rowsOf(clock)
  const open = rows.get(ms)
  const row = open ?? new Row(clock, ms)
  const deadline = new Deadline(row, monotonicMs(clock), onLate)
  row.append(deadline)
  if (open !== undefined) return deadline
  rows.set(ms, row)
  row.watch(() => rows.delete(ms)).catch(() => {})
  return deadline
}

// A signal that a time limit aborted says so: the caller did not give up.
export class TimeLimitError extends Error {
  readonly limitMs: number

  constructor(limitMs: number) {
    super('The time limit was reached.')
    this.limitMs = limitMs
  }
}
