// Go-style durations (`30s`, `1h30m`): the only form of time spans in the contract.
import type { z } from 'zod'
import { SvcError } from '../../errors.ts'
import { publishedMark } from '../schema/field.ts'
import { limitedText } from '../schema/text.ts'

const unitMs: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

const pattern = /^\+?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/
// Go's time.Duration is a signed 64-bit count of nanoseconds: about 292 years.
const maxDurationMs = 9_223_372_036_854

function sumTerms(text: string): number {
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit ?? ''] ?? Number.NaN)
  }
  return total
}

/** Milliseconds of a Go duration, with fractions; undefined for any other text. */
export function tryParseDuration(text: string): number | undefined {
  if (text.length > 100 || !pattern.test(text)) return undefined
  const total = sumTerms(text)
  return total <= maxDurationMs ? total : undefined
}

/** Milliseconds of a Go duration. InvalidRequest for any other text and for negative durations. */
export function parseDuration(text: string): number {
  const total = tryParseDuration(text)
  if (total === undefined) {
    throw new SvcError('InvalidRequest', `"${text.slice(0, 100)}" is not a duration; write it like 30s, 10m or 1h30m`)
  }
  return total
}

/** The shortest Go spelling of a span in milliseconds, exact to the nanosecond: 5400000 is `1h30m`, 1500 is `1.5s`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) throw new RangeError(`not a duration in milliseconds: ${ms}`)
  if (ms === 0) return '0s'
  if (ms < 1000) return formatBelowSecond(ms)
  const hours = Math.floor(ms / 3_600_000)
  const minutes = Math.floor((ms % 3_600_000) / 60_000)
  const seconds = trimNumber((ms % 60_000) / 1000)
  return `${hours > 0 ? `${hours}h` : ''}${minutes > 0 ? `${minutes}m` : ''}${seconds === '0' ? '' : `${seconds}s`}`
}

function formatBelowSecond(ms: number): string {
  if (ms >= 1) return `${trimNumber(ms, 6)}ms`
  if (ms >= 1e-3) return `${trimNumber(ms * 1e3, 3)}us`
  return `${Math.max(1, Math.round(ms * 1e6))}ns`
}

function trimNumber(value: number, digits = 9): string {
  return value.toFixed(digits).replace(/\.?0+$/, '')
}

// Longer texts are refused without matching: the pattern's groups would exhaust the stack on millions of characters.
const shape = limitedText(100).regex(pattern, 'must be a duration like 30s, 10m or 1h30m')

function isWithinRange(text: string): boolean {
  return !pattern.test(text) || tryParseDuration(text) !== undefined
}

/** A Go duration of zero or more, kept as it was written. */
export const Duration = shape.refine(isWithinRange, 'must be shorter than 292 years').meta({ example: '1h30m' })
export type Duration = z.infer<typeof Duration>

/** A Go duration longer than zero, kept as it was written. */
export const PositiveDuration = shape
  .refine(isWithinRange, 'must be shorter than 292 years')
  .refine((text) => tryParseDuration(text) !== 0, 'must be longer than zero')
  .meta({ example: '30s', [publishedMark]: { allOf: [{ pattern: '[1-9]' }] } })
export type PositiveDuration = z.infer<typeof PositiveDuration>
