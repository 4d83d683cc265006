// What a monitor has seen and done, for people.
import { SvcError } from '../../errors.ts'
import type { Caller } from '../../ports/identity/identity.ts'
import type {
  EventQuery,
  ItemQuery,
  MonitorEvent,
  MonitorItem,
  MonitorKey,
  MonitorReviewRecord,
  MonitorRun,
  ReviewQuery,
  RunQuery,
} from '../../ports/monitors/monitors.ts'
import type { ResourceKey } from '../../ports/resources/resources.ts'
import { identifyCaller } from '../../rules/identity/caller-identity.ts'
import { requireAccess } from '../identity/access.ts'
import { notFound } from '../resources/resources.ts'
import type { UsecaseDeps } from '../service/deps.ts'
import { keyOfMonitor } from './runs.ts'

/** All: NotFound. */
export type MonitorRecordUsecases = {
  listRuns(caller: Caller, key: ResourceKey, query: RunQuery): Promise<MonitorRun[]>
  listItems(caller: Caller, key: ResourceKey, query: ItemQuery): Promise<MonitorItem[]>
  listReviews(caller: Caller, key: ResourceKey, query: ReviewQuery): Promise<MonitorReviewRecord[]>
  listEvents(caller: Caller, key: ResourceKey, query: EventQuery): Promise<MonitorEvent[]>
  setDismissed(
    caller: Caller,
    key: ResourceKey,
    finding: { number: number; id: string; dismissed: boolean },
  ): Promise<void>
}

export function createMonitorRecordUsecases({ ports }: UsecaseDeps): MonitorRecordUsecases {
  const { monitors } = ports.records

  async function find(caller: Caller, key: ResourceKey, verb: 'get' | 'operate' = 'get'): Promise<MonitorKey> {
    await requireAccess(ports, caller, { verb, kind: 'RepositoryMonitor', ...key })
    const monitor = await ports.resources.get('RepositoryMonitor', key)
    if (monitor === undefined) throw notFound('RepositoryMonitor', key)
    return keyOfMonitor(monitor)
  }

  return {
    listRuns: async (caller, key, query) => monitors.listRuns(await find(caller, key), query),
    listItems: async (caller, key, query) => monitors.listItems(await find(caller, key), query),
    listReviews: async (caller, key, query) => monitors.listReviews(await find(caller, key), query),
    listEvents: async (caller, key, query) => monitors.listEvents(await find(caller, key), query),

    async setDismissed(caller, key, { number, id, dismissed }) {
      const monitor = await find(caller, key, 'operate')
      if (!(await monitors.setDismissed(monitor, { number, id }, dismissed))) {
        throw new SvcError('NotFound', `pull request ${number} has no finding "${id}"`)
      }
      await monitors.append(monitor, {
        itemKind: 'pull_request',
        itemNumber: number,
        eventType: dismissed ? 'finding_dismissed' : 'finding_restored',
        actor: identifyCaller(caller).name,
        summary: dismissed ? `finding ${id} was dismissed` : `finding ${id} counts again`,
        metadata: { finding: id },
      })
    },
  }
}
