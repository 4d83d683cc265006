// How often something outside is asked whether it has come.
import { tryParseDuration } from '../../contract/values/duration.ts'

const leastMs = 5_000
const firstMs = 10_000
const growth = 1.5
const longestPauseMs = 120_000
const mostMs = 600_000

/** The pause after having asked `asked` times; `every` as its wait says. */
export function probeDelayMs(every: string | undefined, asked: number): number {
  const wanted = every === undefined ? firstMs : (tryParseDuration(every) ?? firstMs)
  const first = Math.min(mostMs, Math.max(leastMs, wanted))
  return Math.round(Math.min(Math.max(first, longestPauseMs), first * growth ** Math.min(asked - 1, 30)))
}
