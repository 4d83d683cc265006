// Orders that the service does not have: the page sorts by them what it has read.
import type { ColumnOrders } from './table-head.tsx'

export type Measured<T> = {
  title: string
  /** The number by which the page sorts the rows that it has read; undefined comes last. */
  measure?: (item: T) => number | undefined
  orders?: ColumnOrders
}

/** `-cost` and `cost` of a column called Cost, the most first; or the orders of the service. */
export function ordersOf<T>({ title, measure, orders }: Measured<T>): ColumnOrders | undefined {
  const name = title.toLowerCase()
  return orders ?? (measure && [`-${name}`, name])
}

/** By which number the order sorts; undefined where it is one of the service. */
export function measureOf<T>(columns: readonly Measured<T>[], order: string | null | undefined) {
  return columns.find((column) => column.measure !== undefined && ordersOf(column)?.includes(order ?? ''))?.measure
}

/** Among equals the order of before. */
export function sortMeasured<T>(
  items: readonly T[],
  measure: (item: T) => number | undefined,
  order: string,
): readonly T[] {
  const sign = order.startsWith('-') ? -1 : 1
  const measured = items.map((item) => ({ item, size: measure(item) }))
  const known = measured.flatMap(({ item, size }) => (size === undefined ? [] : [{ item, size }]))
  const unknown = measured.filter(({ size }) => size === undefined)
  return [...known.toSorted((a, b) => sign * (a.size - b.size)), ...unknown].map(({ item }) => item)
}
