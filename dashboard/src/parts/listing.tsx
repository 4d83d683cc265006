// A list as a page shows it: loading, failed, empty, or the table.
import type { ReactNode } from 'react'
import { type Loaded, useMeasuredList } from './measured-list.tsx'
import { useParameters } from './scope.ts'
import { Failure, Loading } from './states.tsx'
import { Table, type TableProps } from './table.tsx'

type ListingProps<T> = Omit<TableProps<T>, 'items' | 'onEnd' | 'total' | 'order' | 'onOrder'> & {
  list: Loaded<T>
  /** What stands there when there is nothing. */
  empty: ReactNode
}

type Answer<T> = {
  data: { items: readonly T[] } | undefined
  isLoading: boolean
  error: Error | null
  refetch(): unknown
}

/** One answer that has all of them. */
export function wholeList<T>({ data, isLoading, error, refetch }: Answer<T>): Loaded<T> {
  const items = data?.items ?? []
  return { items, isLoading, error, hasMore: false, loadMore: () => undefined, reload: () => void refetch() }
}

/** The order of the page stands in the address. */
export function Listing<T>({ list, empty, ...table }: ListingProps<T>) {
  const [parameters, change] = useParameters()
  const order = parameters.get('sort')
  const { note, ...shown } = useMeasuredList(list, table.columns, order)
  if (list.isLoading) return <Loading what={table.label.toLowerCase()} />
  return (
    <>
      {list.error !== null && <Failure error={list.error} retry={list.reload} />}
      {list.items.length === 0 && list.error === null && empty}
      {note}
      {list.items.length > 0 && (
        <Table {...table} {...shown} order={order ?? undefined} onOrder={(sort) => change({ sort })} />
      )}
    </>
  )
}
