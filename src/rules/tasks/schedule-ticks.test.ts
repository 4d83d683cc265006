import { describe, expect, it } from 'vitest'
import { libraryTicks } from '../../../test/fixtures/schedule-ticks.ts'
import { parseSchedule } from '../../contract/values/schedule.ts'
import { findLatestTick, makeCronTicks, makeIntervalTicks } from './schedule-ticks.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

function ticksOf(schedule: string, zone: string) {
  const parsed = parseSchedule(schedule)
  if (!('cron' in parsed)) throw new Error(`${schedule} is no cron expression`)
  return makeCronTicks(parsed.cron, zone)
}

function listTicks(schedule: string, zone: string, [from, to]: [number, number]): number[] {
  const next = ticksOf(schedule, zone)
  const ticks: number[] = []
  for (let at = next(from); at !== undefined && at <= to; at = next(at)) ticks.push(at)
  return ticks
}

const spell = (time: number) => new Date(time).toISOString().slice(0, 16)
const listSpelled = (schedule: string, zone: string, from: string, to: string) =>
  listTicks(schedule, zone, [Date.parse(from), Date.parse(to)]).map(spell)

describe('what other libraries test', () => {
  it.each(libraryTicks)('$library: $schedule in $zone after $after', ({ schedule, zone, after, ticks }) => {
    const next = ticksOf(schedule, zone)
    let at: number | undefined = Date.parse(after)
    for (const tick of ticks) {
      at = next(at ?? 0)
      expect(at === undefined ? 'never' : spell(at)).toBe(tick)
    }
  })
})

describe('when clocks are put back in New York', () => {
  const list = (schedule: string) => listSpelled(schedule, 'America/New_York', '2027-11-07T04:00Z', '2027-11-07T19:00Z')

  it.each([
    ['30 1 * * *', ['05:30']],
    ['30 1,13 * * *', ['05:30', '18:30']],
    ['30 1-2 * * *', ['05:30', '07:30']],
    ['*/20 1 * * *', ['05:00', '05:20', '05:40']],
    ['30 0/13 * * *', ['04:30', '18:30']],
    ['30 */2 * * *', ['04:30', '07:30', '09:30', '11:30', '13:30', '15:30', '17:30']],
  ])('%s fires at fixed times once', (schedule, expected) => {
    expect(list(schedule).map((tick) => tick.slice(11))).toEqual(expected)
  })

  it.each(['30 * * * *', '30 ? * * *', '30 0-23/1 * * *', '30 0/1 * * *'])(
    '%s fires each hour that passes',
    (schedule) => {
      expect(list(schedule)).toHaveLength(15)
    },
  )
})

describe('when clocks are put forward in Berlin', () => {
  const list = (schedule: string) => listSpelled(schedule, 'Europe/Berlin', '2027-03-28T00:30Z', '2027-03-28T03:30Z')

  it.each([
    ['30 2 * * *', ['01:00']],
    ['0,30 2 * * *', ['01:00']],
    ['*/10 2 * * *', ['01:00']],
    ['0 2,3 * * *', ['01:00']],
    ['30 2-3 * * *', ['01:00', '01:30']],
    ['30 */2 * * *', ['02:30']],
    ['30 * * * *', ['01:30', '02:30', '03:30']],
  ])('%s', (schedule, expected) => {
    expect(list(schedule).map((tick) => tick.slice(11))).toEqual(expected)
  })
})

describe('days', () => {
  const list = (schedule: string) =>
    listSpelled(schedule, 'UTC', '2027-02-01T00:00Z', '2027-02-28T23:59Z').map((tick) => Number(tick.slice(8, 10)))

  it('match by either field where both are restricted', () => {
    expect(list('0 12 1-3 * MON')).toEqual([1, 2, 3, 8, 15, 22])
  })

  it('match by both where one begins with a star', () => {
    expect(list('0 12 */2 * MON')).toEqual([1, 15])
    expect(list('0 12 1-10 * */2')).toEqual([2, 4, 6, 7, 9])
    expect(list('0 12 ? * MON')).toEqual([1, 8, 15, 22])
  })
})

it('finds the last of many ticks that were missed', () => {
  const next = ticksOf('* * * * *', 'Europe/Berlin')
  const now = Date.parse('2027-06-01T12:00:30Z')
  let asked = 0
  const counted = (after: number) => {
    asked += 1
    return next(after)
  }
  expect(spell(findLatestTick(counted, now - 400 * dayMs, now) ?? 0)).toBe('2027-06-01T12:00')
  expect(asked).toBeLessThan(60)
  expect(findLatestTick(makeIntervalTicks(minuteMs, now), now, now + minuteMs - 1)).toBeUndefined()
  expect(findLatestTick(makeIntervalTicks(minuteMs, now), now, now + minuteMs)).toBe(now + minuteMs)
})

/** What a clock of the zone shows, minute by minute; the rule is applied to that, without arithmetic on offsets. */
function makeClock(zone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (time: number) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = format.format(time).split(/\D+/).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute)
  }
}

function rememberEach(clock: (time: number) => number) {
  const known = new Map<number, number>()
  return (time: number) => {
    const shown = known.get(time) ?? clock(time)
    known.set(time, shown)
    return shown
  }
}

/** Whether fields of numbers, lists, ranges and steps match a time; each day field is `*` or lists numbers. */
function matches(schedule: string, shown: number): boolean {
  const date = new Date(shown)
  const values = [date.getUTCMinutes(), date.getUTCHours(), date.getUTCDate(), date.getUTCMonth() + 1, date.getUTCDay()]
  return schedule.split(' ').every((field, at) => field.split(',').some((part) => isIn(part, values[at] ?? 0)))
}

function isIn(part: string, value: number): boolean {
  const [range = '', step] = part.split('/')
  const [from = 0, to = step === undefined ? from : 99] = range === '*' ? [0, 99] : range.split('-').map(Number)
  return value >= from && value <= to && (value - from) % Number(step ?? 1) === 0
}

function* eachMinuteOf(schedule: string, clock: (time: number) => number, [from, to]: [number, number]) {
  const isFixed = !/[*/]/.test(schedule.split(' ')[1] ?? '')
  let latest = clock(from)
  for (let time = from + minuteMs; time <= to; time += minuteMs) {
    const shown = clock(time)
    const isAgain = shown <= latest
    const leapt = Array.from(
      { length: Math.max(0, (shown - latest) / minuteMs - 1) },
      (_, at) => shown - (at + 1) * minuteMs,
    )
    latest = Math.max(latest, shown)
    const isMissed = isFixed && leapt.some((one) => matches(schedule, one))
    if (isMissed || (matches(schedule, shown) && !(isFixed && isAgain))) yield time
  }
}

const patterns = [
  '30 2 * * *',
  '0,30 0-3 * * *',
  '15 1,2,23 * * *',
  '*/20 2 * * *',
  '45 * * * *',
  '0 */3 * * *',
  '10 1/2 * * *',
]

it('holds around each change of two years, in every zone, as a clock shows it', () => {
  const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2028, 0, 1)]
  const days = Array.from({ length: (to - from) / dayMs }, (_, day) => from + day * dayMs)
  /** Zones whose clocks agree at noon of each day are one for this. */
  const zones = new Map(
    Intl.supportedValuesOf('timeZone').map((zone) => {
      const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hour: 'numeric', minute: 'numeric' })
      const noons = days.map((day) => format.format(day))
      return [noons.join(), { zone, changes: days.filter((_, at) => at > 0 && noons[at] !== noons[at - 1]) }]
    }),
  )
  expect(zones.size).toBeGreaterThan(50)
  for (const [at, { zone, changes }] of [...zones.values()].entries()) {
    const clock = rememberEach(makeClock(zone))
    for (const day of changes.length === 0 ? days.slice(0, 1) : changes) {
      const around: [number, number] = [day - 26 * hourMs, day + 6 * hourMs]
      for (const schedule of patterns.filter((_, one) => changes.length > 0 || one === at % patterns.length)) {
        const expected = [...eachMinuteOf(schedule, clock, around)].map(spell)
        expect([zone, schedule, ...listTicks(schedule, zone, around).map(spell)]).toEqual([zone, schedule, ...expected])
      }
    }
  }
})
