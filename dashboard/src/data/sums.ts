// Answers that sum up many objects or records: read again some time after these have changed, however often they do.
import { useQuery } from '@tanstack/react-query'
import type { CallInput } from '../../../src/client/client.ts'
import type { Route } from '../../../src/contract/api/resources/route.ts'
import { api, queryClient } from './api.ts'

/** `sorts`: the words by which the live stream tells of what is summed up. */
export function useSum<R extends Route>(
  sorts: readonly string[],
  route: R,
  input: CallInput<R> = {},
  isEnabled = true,
) {
  return useQuery({
    queryKey: ['sum', sorts, route.path, input],
    queryFn: ({ signal }) => api().call(route, { ...input, signal }),
    // What is shown stays until its successor is there.
    placeholderData: (before) => before,
    enabled: isEnabled,
  })
}

/** Between two readings: sums cost the service more than single objects. */
const pauseMs = 1500
let changed = new Set<string>()

function readAgain(): void {
  const sorts = changed
  changed = new Set()
  void queryClient.invalidateQueries({
    queryKey: ['sum'],
    predicate: ({ queryKey }) => (queryKey[1] as readonly string[]).some((sort) => sorts.has(sort)),
  })
}

/** Something of this sort has changed. */
export function noteForSums(sort: string): void {
  if (changed.size === 0) setTimeout(readAgain, pauseMs)
  changed.add(sort)
}
