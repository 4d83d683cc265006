// Deadlines without a timer each: those with the same time stand in one row, whose first is always the next to run out.
import type { Clock } from '../ports/clock.ts'
import { rememberBy } from './remembered.ts'

/** Links are cut on the way out: what is gone keeps nothing alive, and nothing that came after it. */
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

  /** Begins anew; nothing for one that is over. */
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
    deadline.since = this.#clock.now().getTime()
    if (deadline === this.#last) return
    this.cut(deadline)
    this.append(deadline)
  }

  /** Until the row is empty. */
  async watch(onEnd: () => void): Promise<void> {
    try {
      for (let { first } = this; first !== undefined; first = this.first) {
        const left = first.since + this.#ms - this.#clock.now().getTime()
        // A clock that was set back does not make anybody wait longer than the time itself.
        if (left > 0) await this.#clock.sleep(Math.min(left, this.#ms))
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

const rowsOf = rememberBy((_clock: Clock) => new Map<number, Row>())

/** Calls `onLate` once, when `ms` have passed since the start or the last `renew`, and it was not cancelled. */
export function startDeadline(clock: Clock, ms: number, onLate: () => void): Deadline {
  const rows = rowsOf(clock)
  const open = rows.get(ms)
  const row = open ?? new Row(clock, ms)
  const deadline = new Deadline(row, clock.now().getTime(), onLate)
  row.append(deadline)
  if (open !== undefined) return deadline
  rows.set(ms, row)
  row.watch(() => rows.delete(ms)).catch(() => {})
  return deadline
}

// A signal that a time limit aborted says so: it was not the caller who gave up.
export class TimeLimitError extends Error {
  readonly limitMs: number

  constructor(limitMs: number) {
    super('The time limit was reached.')
    this.limitMs = limitMs
  }
}
