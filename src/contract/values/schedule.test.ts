import { describe, expect, it } from 'vitest'
import { isTimeZone, parseSchedule, Schedule, TimeZone } from './schedule.ts'

describe('schedules', () => {
  it.each([
    ['*/5 * * * *', { cron: '*/5 * * * *' }],
    ['0 3 * * 1-5', { cron: '0 3 * * 1-5' }],
    ['0 0 1 JAN *', { cron: '0 0 1 JAN *' }],
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
  ])('refuses %j', (text) => {
    expect(parseSchedule(text)).toBeUndefined()
    expect(Schedule.safeParse(text).success).toBe(false)
  })

  it('knows time zones', () => {
    expect(isTimeZone('Europe/Berlin')).toBe(true)
    expect(isTimeZone('UTC')).toBe(true)
    expect(TimeZone.safeParse('Mars/Olympus').success).toBe(false)
    expect(TimeZone.safeParse('').success).toBe(false)
  })
})
