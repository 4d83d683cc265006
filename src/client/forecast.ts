// What a month will have cost at its end, by what the last days have cost.

/** `day`: `2026-01-31`, in UTC. */
export type DayCost = { day: string; cost: number }

const dayMs = 86_400_000
const recentDays = 7

/** First moment of the month of a time, in UTC. */
export function startOfMonth(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
}

/** Days to read for a forecast: those of the month, and of the week before. */
export function forecastSince(now: Date): Date {
  const week = Math.floor(now.getTime() / dayMs) * dayMs - recentDays * dayMs
  return new Date(Math.min(startOfMonth(now).getTime(), week))
}

/**
 * What the month has cost so far, and for what is left of it as much as the last seven days have cost on average, today included.
 * Of days in one currency.
 */
export function forecastMonth(days: readonly DayCost[], now: Date): number {
  const sumSince = (since: number) =>
    days.filter(({ day }) => Date.parse(day) >= since).reduce((sum, { cost }) => sum + cost, 0)
  const start = startOfMonth(now)
  const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)
  const today = Math.floor(now.getTime() / dayMs) * dayMs
  const since = today - (recentDays - 1) * dayMs
  const perMs = sumSince(since) / (now.getTime() - since)
  return sumSince(start.getTime()) + perMs * (end - now.getTime())
}
