// What the controller of monitors needs, and what one of its steps knows.
import type { RepositoryMonitor } from '../../contract/kinds/monitors/repository-monitor.ts'
import type { Repository } from '../../contract/values/repository-url.ts'
import type { CodeHost } from '../../ports/codehost/code-host.ts'
import type { Ports, Records } from '../../ports/index.ts'
import type { EventDraft, ItemState, MonitorKey } from '../../ports/monitors/monitors.ts'
import type { MarkerKeys } from '../../rules/monitors/review-marker.ts'
import type { Log } from '../engine/controller.ts'

/** In case that a change was missed. */
export const lookAgainMs = 60_000
/** After a fault that may pass. */
export const retryMs = 30_000

export type MonitorSettings = {
  isolateNamespaces: boolean
  /** Sign the marker by which a published review says which commit it is of. */
  markerKeys: MarkerKeys
}

export type MonitorDeps = Pick<Ports, 'resources' | 'secrets' | 'codeHosts' | 'clock' | 'ids'> & {
  records: Pick<Records, 'monitors' | 'results' | 'inputs' | 'logs'>
  log: Log
  settings: MonitorSettings
}

/** One monitor at work. */
export type MonitorWork = {
  deps: MonitorDeps
  monitor: RepositoryMonitor
  key: MonitorKey
  repository: Repository
  /** The branch whose pull requests it looks at. */
  branch: string
  host: CodeHost
}

/** Tells what was done about a pull request. */
export function recordItemEvent(
  { deps, key }: MonitorWork,
  { number, headSHA }: Pick<ItemState, 'number' | 'headSHA'>,
  event: Omit<EventDraft, 'itemKind' | 'itemNumber' | 'itemSHA'>,
): Promise<void> {
  const about = { itemKind: 'pull_request', itemNumber: number, ...(headSHA && { itemSHA: headSHA }) }
  return deps.records.monitors.append(key, { actor: 'controller', ...about, ...event })
}

/** Stores what has changed of a pull request. */
export async function saveItem({ deps, key }: MonitorWork, item: ItemState): Promise<ItemState> {
  const saved = { ...item, updatedAt: deps.clock.now().toISOString() }
  await deps.records.monitors.putItem(key, saved)
  return saved
}
