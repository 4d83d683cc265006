// When a scheduled task runs: ticks of cron expressions and intervals, deadlines, overlap.
import { Cron } from 'croner'
import { isTimeZone, type ParsedSchedule, parseSchedule } from '../../contract/values/schedule.ts'

export type ScheduleSpec = {
  schedule: string
  timeZone?: string | undefined
  startingDeadlineSeconds: number
  concurrencyPolicy: 'Allow' | 'Forbid'
  suspend: boolean
}

export type ScheduleFacts = {
  /** When the schedule started to count: the creation of the task. */
  createdAt: Date
  /** The tick that was last run, skipped or missed. */
  lastTick?: Date | undefined
  /** Whether a run of this schedule has not ended; only computed for Forbid. */
  hasActiveRun: boolean
}

export type ScheduleDecision =
  | { action: 'invalid'; message: string }
  | { action: 'suspended' }
  /** Nothing is due; `next` is undefined when the schedule never fires again. */
  | { action: 'wait'; next: Date | undefined }
  | { action: 'run'; tick: Date; next: Date | undefined }
  /** Forbid, and a run is active: the tick is skipped, not queued. */
  | { action: 'skip'; tick: Date; next: Date | undefined }
  /** Noticed more than startingDeadlineSeconds too late. */
  | { action: 'missed'; tick: Date; next: Date | undefined }

type Ticks = {
  /** The first tick after `from`. */
  after(from: Date): Date | undefined
  /** The last tick at or before `at`. */
  until(at: Date): Date | undefined
}

function makeIntervalTicks(everyMs: number, base: Date): Ticks {
  const at = (count: number) => new Date(base.getTime() + count * everyMs)
  const countAt = (moment: Date) => Math.floor((moment.getTime() - base.getTime()) / everyMs)
  return {
    after: (from) => at(Math.max(1, countAt(from) + 1)),
    until: (moment) => (countAt(moment) >= 1 ? at(countAt(moment)) : undefined),
  }
}

// When clocks go forward, a tick inside the gap fires once, right after it; when they go back, it fires once, the first
// time.
function makeCronTicks(pattern: string, timeZone: string): Ticks {
  const cron = new Cron(pattern, { timezone: timeZone, paused: true })
  return {
    after: (from) => cron.nextRun(from) ?? undefined,
    // croner only looks strictly before its reference time.
    until: (at) => cron.previousRuns(1, new Date(at.getTime() + 1))[0],
  }
}

function makeTicks(parsed: ParsedSchedule, spec: ScheduleSpec, base: Date): Ticks {
  if ('everyMs' in parsed) return makeIntervalTicks(parsed.everyMs, base)
  const zone = spec.timeZone !== undefined && isTimeZone(spec.timeZone) ? spec.timeZone : 'UTC'
  return makeCronTicks(parsed.cron, zone)
}

/** What to do about the schedule now. When several ticks are due, only the latest counts. */
export function decideSchedule(spec: ScheduleSpec, facts: ScheduleFacts, now: Date): ScheduleDecision {
  const parsed = parseSchedule(spec.schedule)
  if (parsed === undefined) {
    return {
      action: 'invalid',
      message: `"${spec.schedule}" is not a schedule; use five cron fields, @hourly or @every 5m`,
    }
  }
  if (spec.suspend) return { action: 'suspended' }
  const base = facts.lastTick ?? facts.createdAt
  const ticks = makeTicks(parsed, spec, base)
  const tick = ticks.until(now)
  if (tick === undefined || tick.getTime() <= base.getTime()) return { action: 'wait', next: ticks.after(now) }
  const found = { tick, next: ticks.after(now) }
  if (now.getTime() - tick.getTime() > spec.startingDeadlineSeconds * 1000) return { action: 'missed', ...found }
  if (spec.concurrencyPolicy === 'Forbid' && facts.hasActiveRun) return { action: 'skip', ...found }
  return { action: 'run', ...found }
}
