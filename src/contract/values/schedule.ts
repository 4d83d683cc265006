// Cron expressions and time zones: the syntax of schedules. The rules decide when they fire.
import { CronPattern } from 'croner'
import { z } from 'zod'
import { tryParseDuration } from './duration.ts'

/** Descriptors and the cron expressions that they stand for. */
export const scheduleDescriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

/** A parsed schedule: a five-field cron expression, or an interval in milliseconds (`@every 5m`). */
export type ParsedSchedule = { cron: string } | { everyMs: number }

/** Parses five fields, a descriptor such as `@hourly`, or `@every <duration>`; undefined for any other text. */
export function parseSchedule(text: string): ParsedSchedule | undefined {
  if (text.length > 256) return undefined
  const trimmed = text.trim()
  const every = /^@every\s+(\S+)$/.exec(trimmed)
  if (every !== null) {
    const everyMs = tryParseDuration(every[1] ?? '')
    return everyMs !== undefined && everyMs >= 1000 ? { everyMs } : undefined
  }
  const cron = scheduleDescriptors[trimmed.toLowerCase()] ?? trimmed
  return isCron(cron) ? { cron } : undefined
}

function isCron(text: string): boolean {
  // croner also reads six and seven fields; the contract has five, as crontab does.
  if (text.split(/\s+/).length !== 5) return false
  try {
    new CronPattern(text)
    return true
  } catch {
    return false
  }
}

/** True for a time zone that this runtime knows, such as `Europe/Berlin` or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** A cron expression with five fields. */
export const Schedule = z
  .string()
  .max(256)
  .refine(
    (text) => parseSchedule(text) !== undefined,
    'must be a cron expression of five fields, a descriptor such as @hourly, or @every with a duration of at least 1s',
  )
  .meta({ example: '0 3 * * 1-5' })
export type Schedule = z.infer<typeof Schedule>

/** An IANA time zone. */
export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' })
export type TimeZone = z.infer<typeof TimeZone>
