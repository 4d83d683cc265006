// What goes on in the namespaces that the caller may list: sums that the stores keep, and none of their objects but providers.
import type { AccessKind } from '../../contract/api/identity/access.ts'
import { maxProviders, type Overview } from '../../contract/api/service/overview.ts'
import type { RunSums } from '../../contract/api/service/runs.ts'
import { ignoring } from '../../errors.ts'
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Usage, UsageSum } from '../../ports/budgets/usage.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import {
  countEnds,
  countPhases,
  describeProvider,
  describeQueue,
  describeUse,
  listHours,
  rankFailures,
  sortByTrouble,
  startOfHour,
} from '../../rules/service/overview.ts'
import { describeRuns, listDays } from '../../rules/service/runs.ts'
import { type ListScope, requireListing } from '../identity/access.ts'
import type { ResourceUsecases } from '../resources/resources.ts'
import type { UsecaseDeps } from './deps.ts'

export type OverviewUsecases = {
  /** Without a namespace: of all that the caller may list. Forbidden without the right to list tasks. */
  describe(caller: Caller, namespace: string | undefined): Promise<Overview>
  /** Tasks that ended on each of the last days; of one agent, where it is named. */
  sumRuns(
    caller: Caller,
    namespace: string | undefined,
    query: { agent?: string | undefined; days: number },
  ): Promise<RunSums>
}

/** Undefined for what the caller may not list. */
const orAbsent = <T>(work: Promise<T>) => ignoring(work, 'Forbidden')

function listScopes({ namespace, namespaces }: ListScope): readonly string[] | undefined {
  return namespace === undefined ? namespaces : [namespace]
}

function sumWithin(counts: Record<string, number>, namespaces: readonly string[] | undefined): number {
  const visible = Object.entries(counts).filter(([namespace]) => namespaces?.includes(namespace) ?? true)
  return visible.reduce((sum, [, count]) => sum + count, 0)
}

export function createOverviewUsecases({ ports }: UsecaseDeps, objects: ResourceUsecases): OverviewUsecases {
  const { resources, records, clock } = ports
  const hourlyUse = createHourlyUse(records.usage, clock)
  type Viewer = { caller: Caller; namespace: string | undefined }

  async function scopesOf(kind: AccessKind, { caller, namespace }: Viewer, storedIn: () => Promise<string[]>) {
    return listScopes(await requireListing(ports, caller, kind, { namespace, storedIn }))
  }
  const withTasks = () => resources.namespacesOf('Task')

  async function describeTasks(viewer: Viewer, hours: readonly string[]) {
    const namespaces = await scopesOf('Task', viewer, withTasks)
    const [phases, waiting, running, ended] = await Promise.all([
      resources.tallyTasks('phase', { namespaces }),
      resources.tallyTasks('waitingSince', { namespaces, minOnly: true }),
      resources.tallyTasks('runningAgent', { namespaces }),
      resources.tallyTasks('ended', { namespaces, from: hours[0] ?? '' }),
    ])
    const agents = running.map(({ namespace, value, count }) => ({ ...(value && { agent: value }), namespace, count }))
    const tasks = countPhases(phases)
    return {
      tasks,
      queue: describeQueue(tasks.Pending, waiting),
      hours: countEnds(ended, hours),
      failures: rankFailures(ended),
      running: agents.sort((a, b) => b.count - a.count),
      approvals: sumWithin(await records.approvals.countPending(), namespaces),
    }
  }

  async function sumUse(viewer: Viewer, hours: readonly string[]) {
    const namespaces = await scopesOf('Usage', viewer, withTasks)
    const since = new Date(startOfHour(hours[0] ?? ''))
    return describeUse(await hourlyUse.sum(since, namespaces), hours)
  }

  async function listProviders({ caller, namespace }: Viewer, now: Date) {
    const { items } = await objects.list(caller, 'Provider', { namespace, limit: 500 })
    return sortByTrouble(items.map((provider) => describeProvider(provider, now))).slice(0, maxProviders)
  }

  async function countProposals(viewer: Viewer) {
    const pending = await records.memoryProposals.countPending()
    return sumWithin(pending, await scopesOf('Memory', viewer, async () => Object.keys(pending)))
  }

  return {
    async sumRuns(caller, namespace, { agent, days: count }) {
      const days = listDays(clock.now(), count)
      const namespaces = await scopesOf('Task', { caller, namespace }, withTasks)
      const ended = await resources.tallyTasks('endedBy', { namespaces, from: days[0] ?? '' })
      return describeRuns(ended, days, agent)
    },
    async describe(caller, namespace) {
      const now = clock.now()
      const hours = listHours(now)
      const viewer = { caller, namespace }
      const [tasks, usage, providers, proposals] = await Promise.all([
        describeTasks(viewer, hours),
        orAbsent(sumUse(viewer, hours)),
        orAbsent(listProviders(viewer, now)),
        orAbsent(countProposals(viewer)),
      ])
      return {
        time: now.toISOString(),
        ...tasks,
        ...(usage && { usage }),
        ...(providers && { providers }),
        ...(proposals !== undefined && { proposals }),
      }
    },
  }
}

/** How long after the end of an hour calls of it are still written. */
const settlingMs = 10 * 60_000
const hourMs = 3_600_000
/** Queries whose sums are remembered. */
const maxQueries = 200

type Settled = { until: number; sums: Promise<UsageSum[]> }

export type HourlyUse = {
  /** Sums by the hour from `since` on, which begins an hour; absent `namespaces`: of all. */
  sum(since: Date, namespaces: readonly string[] | undefined): Promise<UsageSum[]>
}

export function createHourlyUse(usage: Pick<Usage, 'sum'>, clock: Pick<Clock, 'now'>): HourlyUse {
  const remembered = new BoundedMap<string, Settled>({ max: maxQueries })

  function remember(key: string, settled: Settled): Settled {
    remembered.set(key, settled)
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
