// Use of models by the hour. Hours that are over are read once an hour for each place, so that what is asked for all the time
// reads the newest calls alone.

import type { Clock } from '../../lib/clock.ts'
import type { Usage, UsageSum } from '../../ports/budgets/usage.ts'

/** How long after the end of an hour calls of it are still written. */
const settlingMs = 10 * 60_000
const hourMs = 3_600_000
/** Places that are remembered; of more the oldest are read again. */
const mostPlaces = 200

type Settled = { until: number; sums: Promise<UsageSum[]> }

export type HourlyUse = {
  /** Sums by the hour from `since` on, which begins an hour; absent `namespaces`: of all. */
  sum(since: Date, namespaces: readonly string[] | undefined): Promise<UsageSum[]>
}

export function createHourlyUse(usage: Pick<Usage, 'sum'>, clock: Pick<Clock, 'now'>): HourlyUse {
  const remembered = new Map<string, Settled>()

  function remember(key: string, settled: Settled): Settled {
    remembered.delete(key)
    remembered.set(key, settled)
    const oldest = remembered.size > mostPlaces ? remembered.keys().next().value : undefined
    if (oldest !== undefined) remembered.delete(oldest)
    settled.sums.catch(() => remembered.get(key) === settled && remembered.delete(key))
    return settled
  }

  return {
    async sum(since, namespaces) {
      const until = Math.floor((clock.now().getTime() - settlingMs) / hourMs) * hourMs
      const query = { groupBy: 'hour', ...(namespaces && { namespaces }) } as const
      const key = JSON.stringify([since.getTime(), namespaces])
      const known = remembered.get(key)
      const settled =
        known?.until === until
          ? known
          : remember(key, { until, sums: usage.sum({ ...query, since, until: new Date(until) }) })
      const recent = await usage.sum({ ...query, since: new Date(until) })
      return [...(await settled.sums), ...recent]
    },
  }
}
