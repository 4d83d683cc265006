// Watches the event loop: work that holds it longer than others can wait is logged with what it was, and counted.

export type Work = {
  /** A word of the service: `request`, `proxy`, `reconcile`, `redaction`. */
  kind: string
  /** The pattern of a route, or the name of a controller; never what a user wrote. */
  route?: string
  /** Characters or bytes of what is worked on. */
  size?: number
}

/** `at` in milliseconds of a monotonic clock. */
type Mark = Work & { at: number }

export type Stall = Work & { ms: number }

const maxMarks = 64
const intervalMs = 100
const limitMs = 500
/** What began last is also what the loop is held by: a process has one loop, and so one list. */
const marks: Mark[] = []

/** Says what begins now; cheap enough for each request. */
export function noteWork(work: Work, at = performance.now()): void {
  if (marks.length === maxMarks) marks.shift()
  marks.push({ ...work, at })
}

/** Of the work that began before `until`, the one after which nothing else began for longest. */
export function findStall(known: readonly Mark[], from: number, until: number): Stall {
  const before = known.findLast(({ at }) => at < from)
  const during = known.filter(({ at }) => at >= from)
  const begun: Mark[] = [{ kind: 'unknown', ...before, at: from }, ...during]
  const stalls = begun.map(({ at, ...work }, index) => ({ ...work, ms: (begun[index + 1]?.at ?? until) - at }))
  return stalls.reduce((max, stall) => (stall.ms > max.ms ? stall : max))
}

export type LoopWatch = {
  /** Looks now; the timer does it by itself. */
  look(): void
  stop(): void
}

export type LoopWatchOptions = {
  log: { warn(fields: Stall, message: string): void }
  count(stall: Stall): void
  now?: () => number
}

/** Reports what held the loop longer than 500 ms. Does not keep the process alive. */
export function watchLoop({ log, count, now = () => performance.now() }: LoopWatchOptions): LoopWatch {
  let lastAt = now()
  const look = () => {
    const at = now()
    const lateMs = at - lastAt - intervalMs
    const from = lastAt
    lastAt = at
    if (lateMs < limitMs) return
    const stall = findStall(marks, from, at)
    log.warn({ ...stall, ms: Math.round(stall.ms) }, 'the event loop was held: nothing else was served')
    count(stall)
  }
  const timer = setInterval(look, intervalMs).unref()
  return { look, stop: () => clearInterval(timer) }
}
