// biome-ignore-all lint/a11y/useSemanticElements: rows that are not there cannot be in a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the table has the focus
// Titles of columns; those by which the service can sort are buttons.
/** The orders of the service that a column stands for, the first one pressed first. */
export type ColumnOrders = readonly [string, ...string[]]

type Head = { title: string; isTitleHidden?: boolean; atEnd?: boolean; orders?: ColumnOrders | undefined }

type HeadProps = {
  columns: readonly Head[]
  /** The order that is shown. */
  order: string | undefined
  onOrder: ((order: string) => void) | undefined
}

/** The next of the column's orders; from the last one back to the first. */
function nextOrder(orders: ColumnOrders, order: string | undefined): string {
  return orders[(orders.indexOf(order ?? '') + 1) % orders.length] ?? orders[0]
}

function directionOf(orders: ColumnOrders, order: string | undefined) {
  if (order === undefined || !orders.includes(order)) return 'none'
  return order.startsWith('-') ? 'descending' : 'ascending'
}

const marks = { none: '', ascending: '↑', descending: '↓' } as const

export function TableHead({ columns, order, onOrder }: HeadProps) {
  return columns.map(({ title, isTitleHidden, atEnd, orders }) => {
    if (orders === undefined || onOrder === undefined) {
      return (
        <div key={title} role="columnheader" data-end={atEnd}>
          <span className={isTitleHidden ? 'visually-hidden' : undefined}>{title}</span>
        </div>
      )
    }
    const direction = directionOf(orders, order)
    return (
      <div key={title} role="columnheader" data-end={atEnd} aria-sort={direction}>
        <button type="button" className="order-button" onClick={() => onOrder(nextOrder(orders, order))}>
          {title} <span aria-hidden="true">{marks[direction]}</span>
        </button>
      </div>
    )
  })
}
