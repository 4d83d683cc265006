// A list as a page shows it: loading, failed, empty, or the table.
import type { ReactNode } from 'react'
import { Failure, Loading } from './states.tsx'
import { Table, type TableProps } from './table.tsx'

export type Loaded<T> = {
  items: readonly T[]
  isLoading: boolean
  error: Error | null
  hasMore: boolean
  loadMore(): void
  reload(): void
  total?: number | undefined
}

type ListingProps<T> = Omit<TableProps<T>, 'items' | 'onEnd' | 'total'> & {
  list: Loaded<T>
  /** What stands there when there is nothing. */
  empty: ReactNode
}

export function Listing<T>({ list, empty, ...table }: ListingProps<T>) {
  if (list.isLoading) return <Loading what={table.label.toLowerCase()} />
  return (
    <>
      {list.error !== null && <Failure error={list.error} retry={list.reload} />}
      {list.items.length === 0 && list.error === null && empty}
      {list.items.length > 0 && (
        <Table {...table} items={list.items} onEnd={list.hasMore ? list.loadMore : undefined} total={list.total} />
      )}
    </>
  )
}
