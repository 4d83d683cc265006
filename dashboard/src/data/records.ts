// Single objects, and records that are no objects: read once, and again when the live stream says that they have changed.
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import type { CallInput } from '../../../src/client/client.ts'
import type { ListBody } from '../../../src/contract/api/resources/list.ts'
import type { Route, RouteAnswer, RouteQueryInput } from '../../../src/contract/api/resources/route.ts'
import type { RecordKind } from '../../../src/contract/api/resources/watch.ts'
import type { Kind } from '../../../src/contract/kinds/index.ts'
import { api, queryClient } from './api.ts'

/** What an answer is made from: the stream tells when records and objects have changed, a page itself when the others have. */
export type RecordSort = RecordKind | Kind | 'AuditLog' | 'ConfigMap' | 'Secret' | 'Setting' | 'Token'

/** An object with everything in it; read again when it changes. */
export function useObject<R extends Route>(kind: Kind, route: R, key: { namespace: string; name: string }) {
  const { namespace, name } = key
  return useQuery({
    queryKey: ['object', kind, namespace, name],
    queryFn: ({ signal }) =>
      api().call(route, { params: paramsOf(route, name), query: { namespace }, signal } as unknown as CallInput<R>),
  })
}

/** What else there is about an object, such as the result of a task; read again when the object changes. */
export function useObjectRecord<R extends Route>(
  kind: Kind,
  route: R,
  key: { namespace: string; name: string },
  more: { query?: Partial<RouteQueryInput<R>>; isEnabled?: boolean } = {},
) {
  const { namespace, name } = key
  const query = { namespace, ...more.query }
  return useQuery({
    queryKey: ['object', kind, namespace, name, route.path, more.query],
    queryFn: ({ signal }) =>
      api().call(route, { params: paramsOf(route, name), query, signal } as unknown as CallInput<R>),
    enabled: more.isEnabled ?? true,
  })
}

/** The one parameter of the route's path, whatever it is called. */
function paramsOf(route: Route, name: string): Record<string, string> {
  const parameter = /:([A-Za-z]+)/.exec(route.path)?.[1] ?? 'id'
  return { [parameter]: name }
}

/**
 * The answer of a route that reads. `sort` is the word by which the live stream tells of changes (`Finding`, `Usage`, ...), and
 * `key` what else the answer depends on besides the input.
 */
export function useRecord<R extends Route>(sort: RecordSort, route: R, input: CallInput<R> = {}, isEnabled = true) {
  return useQuery({
    queryKey: ['records', sort, route.path, input],
    queryFn: ({ signal }) => api().call(route, { ...input, signal }),
    enabled: isEnabled,
  })
}

type ItemOf<R extends Route> = RouteAnswer<R> extends { items: (infer T)[] } ? T : never

const pageSize = 100

/** The pages of a list of records, newest first as the service has them. */
export function useRecordPages<R extends Route>(sort: RecordSort, route: R, input: CallInput<R> = {}) {
  const pages = useInfiniteQuery({
    queryKey: ['records', sort, route.path, input, 'pages'],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }) => {
      const query = { limit: pageSize, ...input.query, continue: pageParam } as unknown as RouteQueryInput<R>
      return (await api().call(route, { ...input, query, signal })) as unknown as ListBody<ItemOf<R>>
    },
    getNextPageParam: (page) => page.metadata.continue,
  })
  return {
    items: pages.data?.pages.flatMap((page) => page.items) ?? [],
    isLoading: pages.isLoading,
    error: pages.error,
    hasMore: pages.hasNextPage,
    isLoadingMore: pages.isFetchingNextPage,
    loadMore: () => void pages.fetchNextPage(),
    reload: () => void pages.refetch(),
  }
}

/** A call that changes something. Records of these sorts are read again after it; objects come by the live stream. */
export function useChange<R extends Route>(route: R, ...sorts: RecordSort[]) {
  return useMutation({
    mutationFn: (input: CallInput<R>) => api().call(route, input),
    onSuccess: () => {
      for (const sort of sorts) void queryClient.invalidateQueries({ queryKey: ['records', sort] })
    },
  })
}
