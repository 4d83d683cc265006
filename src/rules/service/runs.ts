// Sums of ended tasks by the day from a tally of the stores: `2026-01-31 Failed TimedOut researcher`.
import { maxCauses, type RunSums } from '../../contract/api/service/runs.ts'

type Sum = { namespace: string; value: string; count: number }
type Ended = { day: string; phase: string; reason: string; agent: string; namespace: string; count: number }

const dayMs = 86_400_000

/** The days, oldest first. */
export function listDays(now: Date, count: number): string[] {
  const today = Math.floor(now.getTime() / dayMs)
  return Array.from({ length: count }, (_, at) => new Date((today - count + 1 + at) * dayMs).toISOString().slice(0, 10))
}

function readEnded({ namespace, value, count }: Sum): Ended {
  const [day = '', phase = '', reason = '', agent = ''] = value.split(' ')
  return { day, phase, reason, agent, namespace, count }
}

function rankCauses(failed: readonly Ended[]): RunSums['causes'] {
  const groups = Map.groupBy(failed, ({ reason, agent, namespace }) => `${namespace} ${agent} ${reason}`)
  const causes = [...groups.values()].flatMap((all) => {
    const [{ reason, agent, namespace } = { reason: '', agent: '', namespace: '' }] = all
    const count = all.reduce((sum, one) => sum + one.count, 0)
    return [{ reason: reason || 'Unknown', ...(agent !== '' && { agent }), namespace, count }]
  })
  return causes.sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1)).slice(0, maxCauses)
}

/** `sums`: values as of the tally `endedBy`. `agent`: only of this one. */
export function describeRuns(sums: readonly Sum[], days: readonly string[], agent?: string): RunSums {
  const ended = sums
    .map(readEnded)
    .filter((one) => days.includes(one.day) && (agent === undefined || one.agent === agent))
  const byDay = Map.groupBy(ended, ({ day, phase }) => `${day} ${phase}`)
  const countOf = (day: string, phase: string) =>
    (byDay.get(`${day} ${phase}`) ?? []).reduce((sum, { count }) => sum + count, 0)
  return {
    days: days.map((day) => ({
      start: `${day}T00:00:00.000Z`,
      succeeded: countOf(day, 'Succeeded'),
      failed: countOf(day, 'Failed'),
      cancelled: countOf(day, 'Cancelled'),
    })),
    causes: rankCauses(ended.filter(({ phase }) => phase === 'Failed')),
  }
}
