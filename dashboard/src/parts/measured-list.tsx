// A list in an order of the page: what is not read yet comes too, up to a bound, and it is said how far that is.
import { useEffect, useMemo, useState } from 'react'
import { Button } from './button.tsx'
import { type Measured, measureOf, sortMeasured } from './measured-order.ts'
import { formatCount } from './usage-facts.tsx'

export type Loaded<T> = {
  items: readonly T[]
  isLoading: boolean
  error: Error | null
  hasMore: boolean
  isLoadingMore?: boolean
  loadMore(): void
  reload(): void
  total?: number | undefined
}

/** Of records, all of which are read again when one changes. */
const recordsAtOnce = 1000

/**
 * The list as the order has it, and what is to be said of that; the list itself where the order is one of the service. More than `atOnce`
 * are read where somebody wants them.
 */
export function useMeasuredList<T>(
  list: Loaded<T>,
  columns: readonly Measured<T>[],
  order: string | null,
  atOnce = recordsAtOnce,
) {
  const measure = measureOf(columns, order)
  const [bound, setBound] = useState(atOnce)
  const { items, hasMore, isLoadingMore = false, total } = list
  const isReading = measure !== undefined && hasMore && items.length < bound && list.error === null
  // biome-ignore lint/correctness/useExhaustiveDependencies: the next page when the one before is there
  useEffect(() => {
    if (isReading && !isLoadingMore) list.loadMore()
  }, [isReading, isLoadingMore, items.length])
  const sorted = useMemo(
    () => (measure === undefined || order === null ? items : sortMeasured(items, measure, order)),
    [items, measure, order],
  )
  if (measure === undefined) return { items, total, onEnd: hasMore ? list.loadMore : undefined, note: null }
  const read = `the ${formatCount(items.length)} that were read${total === undefined ? '' : ` of ${formatCount(total)}`}`
  const note = hasMore && (
    <p className="row soft" role="status">
      Sorted among {read}.
      {isReading ? (
        ' The others are being read.'
      ) : (
        <Button onClick={() => setBound(items.length + atOnce)}>Read more</Button>
      )}
    </p>
  )
  return { items: sorted, total: undefined, onEnd: undefined, note }
}
