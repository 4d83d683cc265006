// Lists of objects: read page by page, as summaries, and kept true by the live stream without reading again.
import { useQuery } from '@tanstack/react-query'
import { useCallback, useState } from 'react'
import type { Client } from '../../../src/client/client.ts'
import { listAgents } from '../../../src/contract/api/agents/agents.ts'
import { listMonitors } from '../../../src/contract/api/monitors/monitors.ts'
import { listProviders } from '../../../src/contract/api/providers/providers.ts'
import type { ListBody } from '../../../src/contract/api/resources/list.ts'
import type { Route, RouteQueryInput } from '../../../src/contract/api/resources/route.ts'
import { listRepositoryScans } from '../../../src/contract/api/scans/routes.ts'
import { listTasks } from '../../../src/contract/api/tasks/tasks.ts'
import type { Kind } from '../../../src/contract/kinds/index.ts'
import { api, queryClient } from './api.ts'
import { applyChanges, type ListData } from './list-changes.ts'
import type { LiveChange } from './live-changes.ts'
import type { Summary, SummaryOf } from './summary.ts'

const routes = {
  Task: listTasks,
  Agent: listAgents,
  Provider: listProviders,
  RepositoryScan: listRepositoryScans,
  RepositoryMonitor: listMonitors,
} satisfies Partial<Record<Kind, Route>>

/** Kinds whose lists are of objects; those of tools and skills have entries of their own (`useRecordPages`). */
export type ListedKind = keyof typeof routes

/** What is asked for, as in the query of the route. */
export type ListFilter = RouteQueryInput<typeof listTasks>

const pageSize = 500

async function readPage(client: Client, kind: ListedKind, filter: ListFilter, after: string | undefined) {
  const query = { ...filter, view: 'summary', limit: pageSize, continue: after } as const
  return (await client.call(routes[kind] as typeof listTasks, { query })) as unknown as ListBody<Summary>
}

/** The query of a list, for those who read several; all of its pages when `atLeast` is infinite. */
export function listQuery(kind: ListedKind, filter: ListFilter, atLeast?: number) {
  const key = listKey(kind, filter)
  const known = () => queryClient.getQueryData<ListData>(key)?.items.length ?? 0
  return {
    queryKey: key,
    queryFn: () => readList(kind, filter, atLeast ?? known()),
    // Rows that did not change are the same objects already; to compare ten thousand of them takes longer than to draw them.
    structuralSharing: false,
  }
}

/** Pages until as many objects as were there before are there again. */
async function readList(kind: ListedKind, filter: ListFilter, atLeast: number): Promise<ListData> {
  let items: Summary[] = []
  let next: string | undefined
  let remaining: number | undefined
  const client = api()
  do {
    const page = await readPage(client, kind, filter, next)
    items = [...items, ...page.items]
    next = page.metadata.continue
    remaining = page.metadata.remainingItemCount
  } while (next !== undefined && items.length < atLeast)
  return { items, next, remaining }
}

export type LiveList<K extends ListedKind> = {
  items: SummaryOf<K>[]
  /** How many there are in all, where it is known. */
  total: number | undefined
  isLoading: boolean
  error: Error | null
  hasMore: boolean
  isLoadingMore: boolean
  loadMore(): void
  reload(): void
}

const listKey = (kind: ListedKind, filter: ListFilter) => ['list', kind, filter] as const

/** A list that lives. Further pages come by `loadMore`; each caller of the same filter shares one. */
export function useObjects<K extends ListedKind>(kind: K, filter: ListFilter, isEnabled = true): LiveList<K> {
  const key = listKey(kind, filter)
  const [isLoadingMore, setLoadingMore] = useState(false)
  const query = useQuery({ ...listQuery(kind, filter), enabled: isEnabled })
  const next = query.data?.next
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is the kind and the filter as text
  const loadMore = useCallback(async () => {
    if (next === undefined || isLoadingMore) return
    setLoadingMore(true)
    const client = api()
    try {
      const page = await readPage(client, kind, filter, next)
      if (client !== api()) return
      queryClient.setQueryData<ListData>(key, (data) => data && appendPage(data, page))
    } catch {
      // The cursor is too old, or the service was away: what is shown is read again from its beginning.
      await query.refetch()
    } finally {
      setLoadingMore(false)
    }
  }, [JSON.stringify(key), next, isLoadingMore])
  return {
    items: (query.data?.items ?? []) as unknown as SummaryOf<K>[],
    total: totalOf(query.data),
    isLoading: query.isLoading,
    error: query.error,
    hasMore: next !== undefined,
    isLoadingMore,
    loadMore: () => void loadMore(),
    reload: () => void query.refetch(),
  }
}

function appendPage(data: ListData, page: ListBody<Summary>): ListData {
  const known = new Set(data.items.map(({ metadata }) => metadata.uid))
  const more = page.items.filter(({ metadata }) => !known.has(metadata.uid))
  const { continue: next, remainingItemCount: remaining } = page.metadata
  return { items: [...data.items, ...more], next, remaining }
}

function totalOf(data: ListData | undefined): number | undefined {
  if (data === undefined) return undefined
  if (data.next === undefined) return data.items.length
  return data.remaining === undefined ? undefined : data.items.length + data.remaining
}

/** Brings every list that is kept up to date, and marks single objects as changed. */
export function applyToLists(changes: LiveChange[]): void {
  for (const query of queryClient.getQueryCache().findAll({ queryKey: ['list'] })) {
    const [, kind, filter] = query.queryKey as [string, Kind, ListFilter]
    const own = changes.filter((change) => change.kind === kind)
    const data = query.state.data as ListData | undefined
    if (own.length === 0 || data === undefined) continue
    const changed = applyChanges(data, own, filter)
    if (changed === 'unknown') void queryClient.invalidateQueries({ queryKey: query.queryKey })
    else if (changed !== data) queryClient.setQueryData(query.queryKey, changed)
  }
}
