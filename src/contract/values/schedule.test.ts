import { describe, expect, it } from 'vitest'
import { parseSchedule, Schedule, TimeZone } from './schedule.ts'

describe('schedules', () => {
  it.each([
    ['*/5 * * * *', { cron: '*/5 * * * *' }],
    ['0 3 * * 1-5', { cron: '0 3 * * 1-5' }],
    ['0 0 1 JAN *', { cron: '0 0 1 JAN *' }],
    ['0/15 1-23/2 * * *', { cron: '0-59/15 1-23/2 * * *' }],
    ['5,10/90 2/3 1/2 JAN/3 MON/2', { cron: '5,10-59/60 2-23/3 1-31/2 JAN-12/3 MON-6/2' }],
    ['@hourly', { cron: '0 * * * *' }],
    ['@Daily', { cron: '0 0 * * *' }],
    ['@every 5m', { everyMs: 300_000 }],
    ['@every 1h30m', { everyMs: 5_400_000 }],
  ])('reads %s', (text, expected) => {
    expect(parseSchedule(text)).toEqual(expected)
    expect(Schedule.parse(text)).toBe(text)
  })

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '61 * * * *',
    '* 25 * * *',
    '@fortnightly',
    '@every',
    '@every 10ms',
    '@every x',
    '*/0 * * * *',
    '1/ * * * *',
    '0 0 * * 7/2',
  ])('refuses %j', (text) => {
    expect(parseSchedule(text)).toEqual({ fault: expect.stringContaining('five fields') })
    expect(Schedule.safeParse(text).success).toBe(false)
  })

  it.each([
    ['0 0 12 * * ?', 'this one has 6 fields'],
    ['0 0 12 1/1 * ? 2030', 'this one has 7 fields'],
    ['0 24 * * *', 'its hour cannot be "24"'],
    ['H/15 * * * *', 'its minute cannot be "H/15"'],
    ['0 22-2 * * *', 'its hour cannot be "22-2"'],
    ['0 0 L-3 * *', 'its day of month cannot be "L-3"'],
    ['0 9 * january *', 'its month cannot be "january"'],
    ['0 0 * * MON#6', 'its day of week cannot be "MON#6"'],
    ['0~30 * * * *', 'its minute cannot be "0~30"'],
  ])('says of %j, of another dialect, what is wrong', (text, mistake) => {
    expect(parseSchedule(text)).toEqual({ fault: expect.stringMatching(`^must be a cron expression.*${mistake}$`) })
  })

  it.each(['CRON_TZ=Europe/Berlin 0 3 * * *', 'TZ=UTC @hourly'])('says of %j where the time zone belongs', (text) => {
    expect(Schedule.safeParse(text).error?.issues[0]?.message).toBe(
      'must not name a time zone: set spec.timeZone instead',
    )
  })

  it('knows time zones', () => {
    expect(TimeZone.safeParse('Europe/Berlin').success).toBe(true)
    expect(TimeZone.safeParse('UTC').success).toBe(true)
    expect(TimeZone.safeParse('Mars/Olympus').success).toBe(false)
    expect(TimeZone.safeParse('').success).toBe(false)
  })
})
