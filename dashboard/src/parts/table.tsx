// biome-ignore-all lint/a11y/useSemanticElements: rows that are not there cannot be in a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the table has the focus
// biome-ignore-all lint/a11y/useKeyWithClickEvents: the table has the keys of its rows
// A table of any length: only the rows in sight are in the page, so that ten thousand of them scroll as ten do.
import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type MouseEvent, memo, type ReactNode, useEffect, useRef } from 'react'
import { useChosenRow } from './chosen-row.ts'
import { type Measured, ordersOf } from './measured-order.ts'
import { useMedia } from './media.ts'
import { TableHead } from './table-head.tsx'
import './table.css'

export type Column<T> = Measured<T> & {
  /** The title is there for those who hear the table. */
  isTitleHidden?: boolean
  /** Of `grid-template-columns`; default `minmax(0, 1fr)`. */
  width?: string
  cell: (item: T) => ReactNode
  /** Numbers stand at the end. */
  atEnd?: boolean
  /** On a narrow screen a row has two lines: what stands before both, what in the second, and what is left out. */
  narrow?: 'first' | 'second' | 'hidden'
}

export type TableProps<T> = {
  label: string
  columns: Column<T>[]
  items: readonly T[]
  keyOf: (item: T) => string
  /** Enter on a row, which the arrow keys, `j` and `k` choose. */
  onOpen?: (item: T) => void
  /** The key of the row that is open beside the list. */
  openKey?: string | undefined
  /** The order of the list, and what is called when another one is wanted. */
  order?: string
  onOrder?: (order: string) => void
  /** The space bar on a row. */
  onToggle?: (item: T) => void
  /** Called when the end of the items comes in sight, until it no longer is. */
  onEnd?: (() => void) | undefined
  /** How many there are in all, read or not: one scrolls through all of them, and those that come in sight are read. */
  total?: number | undefined
  /** It takes the height that is left on the page, as far as it needs that, and scrolls by itself; else it is as long as its rows, 480 px at most. */
  fills?: boolean
}

const rowHeight = { wide: 40, narrow: 58 }
const headHeight = 37
const steps: Record<string, number> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: 12,
  PageUp: -12,
  End: Number.POSITIVE_INFINITY,
  Home: Number.NEGATIVE_INFINITY,
}

export function Table<T>(props: TableProps<T>) {
  const { label, columns, items, keyOf, onOpen, onToggle, onEnd, fills = false } = props
  const total = Math.max(props.total ?? 0, items.length)
  const scroller = useRef<HTMLDivElement>(null)
  const isNarrow = useMedia('(max-width: 820px)')
  const height = isNarrow ? rowHeight.narrow : rowHeight.wide
  const chosen = useChosenRow(items, total, keyOf)
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew when the height of rows changes
  useEffect(() => rows.measure(), [height])

  const shown = rows.getVirtualItems()
  const last = shown.at(-1)?.index ?? 0
  const isNearEnd = items.length > 0 && last >= items.length - 20
  useEffect(() => {
    if (isNearEnd) onEnd?.()
  }, [isNearEnd, onEnd])

  function toggleChosen(event: KeyboardEvent): void {
    if (event.key !== ' ' || chosen.item === undefined || onToggle === undefined) return
    onToggle(chosen.item)
    event.preventDefault()
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.target !== scroller.current) return
    toggleChosen(event)
    const step = steps[event.key]
    if (step !== undefined) {
      rows.scrollToIndex(chosen.step(step))
      event.preventDefault()
    } else if (event.key === 'Enter' && chosen.item !== undefined) {
      // The key would press a button of the dialog that it opens.
      event.preventDefault()
      onOpen?.(chosen.item)
    }
  }

  const template = { '--columns': columns.map(({ width }) => width ?? 'minmax(0, 1fr)').join(' ') } as object
  const hasHead = !isNarrow || (props.onOrder !== undefined && columns.some((column) => ordersOf(column) !== undefined))
  const whole = (hasHead ? headHeight : 0) + total * height + 2
  const own = fills ? { minHeight: Math.min(320, whole), maxHeight: whole } : { height: Math.min(480, whole) }
  return (
    <div
      ref={scroller}
      className="table"
      role="table"
      aria-label={label}
      aria-rowcount={total + 1}
      data-fills={fills}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: rows are chosen by keyboard, and what scrolls must be reachable
      tabIndex={0}
      onKeyDown={onKeyDown}
      style={{ ...template, ...own }}
    >
      <div role="rowgroup">
        <div className="head" role="row" aria-rowindex={1}>
          <TableHead
            columns={columns.map((column) => ({ ...column, orders: ordersOf(column) }))}
            order={props.order}
            onOrder={props.onOrder}
          />
        </div>
      </div>
      <div className="rows" role="rowgroup" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index }) => {
          const item = items[index]
          return (
            <Row
              key={item === undefined ? index : keyOf(item)}
              columns={columns}
              item={item}
              index={index}
              height={height}
              isChosen={index === chosen.place}
              isOpen={item !== undefined && keyOf(item) === props.openKey}
              onOpen={onOpen}
            />
          )
        })}
      </div>
    </div>
  )
}

type RowProps<T> = {
  columns: Column<T>[]
  /** Undefined as long as it was not read. */
  item: T | undefined
  index: number
  height: number
  isChosen: boolean
  isOpen: boolean
  onOpen: ((item: T) => void) | undefined
}

/** What is pressed by itself, a cell with a box beside which somebody clicks, and text that somebody marks, open no row. */
function isForRow({ target }: MouseEvent): boolean {
  const element = target as HTMLElement
  const hasBox = element.closest('[role=cell]')?.querySelector('input') != null
  const isOwn = hasBox || element.closest('a, button, select, label') !== null
  return !isOwn && window.getSelection()?.isCollapsed !== false
}

function RowOf<T>({ columns, item, index, height, isChosen, isOpen, onOpen }: RowProps<T>) {
  return (
    <div
      className="line"
      role="row"
      aria-rowindex={index + 2}
      aria-busy={item === undefined}
      data-chosen={isChosen}
      aria-current={isOpen || undefined}
      data-opens={onOpen !== undefined}
      onClick={(event) => item !== undefined && isForRow(event) && onOpen?.(item)}
      style={{ height, transform: `translateY(${index * height}px)` }}
    >
      {item === undefined && <div role="cell">…</div>}
      {item !== undefined &&
        columns.map(({ title, cell, atEnd, narrow }) => (
          <div key={title} role="cell" data-end={atEnd} data-narrow={narrow}>
            {cell(item)}
          </div>
        ))}
    </div>
  )
}

/** Drawn again only when its object or its place has changed: of the rows in sight few have. */
const Row = memo(RowOf) as unknown as typeof RowOf
