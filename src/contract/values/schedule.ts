// Cron expressions and time zones: the syntax of schedules. The rules decide when they fire.
import { CronPattern } from 'croner'
import type { z } from 'zod'
import { isTimeZone } from '../../lib/time-zone.ts'
import { limitedText } from '../schema/text.ts'
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

const expected =
  'must be a cron expression of five fields, a descriptor such as @hourly, or @every with a duration of at least 1s'

/** Parses five fields, a descriptor such as `@hourly`, or `@every <duration>`. `fault`: what any other text must be, or must not. */
export function parseSchedule(text: string): ParsedSchedule | { fault: string } {
  const trimmed = text.trim()
  if (/^(CRON_)?TZ=/i.test(trimmed)) return { fault: 'must not name a time zone: set spec.timeZone instead' }
  if (text.length > 256) return { fault: expected }
  return parseInterval(trimmed) ?? parseCron(trimmed) ?? { fault: `${expected}${findMistake(trimmed)}` }
}

function parseInterval(text: string): ParsedSchedule | undefined {
  const everyMs = tryParseDuration(/^@every\s+(\S+)$/.exec(text)?.[1] ?? '')
  return everyMs !== undefined && everyMs >= 1000 ? { everyMs } : undefined
}

function parseCron(text: string): ParsedSchedule | undefined {
  const fields = (scheduleDescriptors[text.toLowerCase()] ?? text).split(/\s+/)
  // croner also reads six and seven fields; the contract has five, as crontab does.
  if (fields.length !== fieldBounds.length) return undefined
  const cron = fieldBounds.map((bounds, at) => spellSteps(fields[at] ?? '', bounds)).join(' ')
  try {
    new CronPattern(cron)
    return { cron }
  } catch {
    return undefined
  }
}

/** The last value of each field, and how many there are. */
const fieldBounds = [
  { name: 'minute', last: 59, count: 60 },
  { name: 'hour', last: 23, count: 24 },
  { name: 'day of month', last: 31, count: 31 },
  { name: 'month', last: 12, count: 12 },
  { name: 'day of week', last: 6, count: 7 },
]

/** Which part of an expression is wrong; empty where the text is no expression at all. */
function findMistake(text: string): string {
  const fields = text.split(/\s+/)
  if (fields.length === 1 || text.startsWith('@')) return ''
  if (fields.length !== fieldBounds.length) return `, without seconds and years; this one has ${fields.length} fields`
  const alone = (field: string, at: number) => fieldBounds.map((_, other) => (other === at ? field : '*')).join(' ')
  const at = fields.findIndex((field, index) => parseCron(alone(field, index)) === undefined)
  return at < 0 ? '' : `; its ${fieldBounds[at]?.name} cannot be ${JSON.stringify(fields[at]?.slice(0, 40))}`
}

/** Kubernetes takes `a/b` for "from a on", and steps of any length; croner takes neither. */
function spellSteps(field: string, { last, count }: { last: number; count: number }): string {
  return field.replaceAll(/([^,/]+)\/(\d+)(?=,|$)/g, (_, values: string, step: string) => {
    const range = /^(\d+|[a-z]{3})$/i.test(values) ? `${values}-${last}` : values
    return `${range}/${Math.min(Number(step), count)}`
  })
}

/** A cron expression with five fields. */
export const Schedule = limitedText(256)
  .check(({ value, issues }) => {
    const parsed = parseSchedule(value)
    if ('fault' in parsed) issues.push({ code: 'custom', input: value, message: parsed.fault })
  })
  .meta({ example: '0 3 * * 1-5' })
export type Schedule = z.infer<typeof Schedule>

/** An IANA time zone. */
export const TimeZone = limitedText(64)
  .refine(isTimeZone, 'must be an IANA time zone such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' })
export type TimeZone = z.infer<typeof TimeZone>
