// biome-ignore-all lint/a11y/useSemanticElements: rows that are not there cannot be in a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the tree has the focus and names the row that is chosen
// The tree of steps with bars over one time. Only the rows in sight are in the page, which scrolls as a whole.
import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { isRightToLeft } from '../direction.ts'
import { describeSpan, useNow } from '../time.tsx'
import { StepDetails } from './step-details.tsx'
import { TraceLine } from './trace-line.tsx'
import { listOpenRows, rangeOf, type TraceRow } from './trace-rows.ts'
import './trace-tree.css'

const lineHeight = 36

/** How far the list lies below the beginning of what scrolls. */
function useMargin(list: RefObject<HTMLElement | null>, scroller: () => HTMLElement | null): number {
  const [margin, setMargin] = useState(0)
  useLayoutEffect(() => {
    const main = scroller()
    const page = list.current?.closest('.page')
    if (main === null || !page) return
    const measure = () => {
      const top = list.current?.getBoundingClientRect().top ?? 0
      setMargin(Math.round(top - main.getBoundingClientRect().top + main.scrollTop))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(page)
    return () => observer.disconnect()
  }, [list, scroller])
  return margin
}

const findMain = () => document.getElementById('main')

/** Keys that are in a set or not, and what puts one in or takes it out. */
function useKeys() {
  const [keys, setKeys] = useState<ReadonlySet<string>>(new Set())
  const toggle = useCallback(
    (key: string) =>
      setKeys((before) =>
        before.has(key) ? new Set([...before].filter((one) => one !== key)) : new Set([...before, key]),
      ),
    [],
  )
  return [keys, toggle] as const
}

const mirrored: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

type TreeState = { rows: readonly TraceRow[]; at: number; closed: ReadonlySet<string> }

/** Where a key goes to; undefined: nowhere. */
function goBy(key: string, { rows, at, closed }: TreeState): number | undefined {
  const row = rows[at]
  const parent = rows.findLastIndex(({ depth }, index) => index < at && depth < (row?.depth ?? 0))
  const targets: Record<string, number | undefined> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + 12,
    PageUp: at - 12,
    Home: 0,
    End: rows.length - 1,
    ArrowRight: row?.hasChildren && !closed.has(row.key) ? at + 1 : undefined,
    ArrowLeft: parent < 0 ? undefined : parent,
  }
  const to = targets[key]
  return to === undefined ? undefined : Math.max(0, Math.min(rows.length - 1, to))
}

/** Which rows are folded, opened and chosen, and what keys do with them. */
function useTree(all: readonly TraceRow[]) {
  const [closed, fold] = useKeys()
  const [opened, toggle] = useKeys()
  const [chosen, setChosen] = useState<string>()
  const rows = useMemo(() => listOpenRows(all, closed), [all, closed])
  const at = rows.findIndex(({ key }) => key === chosen)
  const row = rows[at]

  /** The row to bring in sight; undefined: nothing was done. */
  function press(key: string): number | undefined {
    const foldKey = row !== undefined && closed.has(row.key) ? 'ArrowRight' : 'ArrowLeft'
    const actions: Record<string, typeof fold | undefined> = {
      Enter: toggle,
      ' ': toggle,
      ...(row?.hasChildren && { [foldKey]: fold }),
    }
    const action = actions[key]
    if (row !== undefined && action !== undefined) {
      action(row.key)
      return at
    }
    const to = goBy(key, { rows, at, closed })
    if (to !== undefined) setChosen(rows[to]?.key)
    return to
  }

  const open = useCallback(
    (key: string) => {
      setChosen(key)
      toggle(key)
    },
    [toggle],
  )
  return { rows, at, closed, opened, press, open, fold }
}

export function TraceTree({ rows: all, namespace }: { rows: readonly TraceRow[]; namespace: string }) {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const tree = useTree(all)
  const margin = useMargin(list, findMain)
  const second = useNow()
  // Of what is over nothing is drawn again as time passes.
  const now = useMemo(() => all.some(({ to }) => to === undefined), [all]) ? second : 0
  const range = useMemo(() => rangeOf(all, now), [all, now])
  const { rows, at } = tree
  const lines = useVirtualizer({
    count: rows.length,
    getScrollElement: findMain,
    estimateSize: () => lineHeight,
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 16,
    scrollMargin: margin,
  })

  function onKeyDown(event: KeyboardEvent): void {
    if (event.target !== event.currentTarget) return
    const to = tree.press((isRightToLeft() ? mirrored[event.key] : undefined) ?? event.key)
    if (to === undefined) return
    event.preventDefault()
    lines.scrollToIndex(to)
  }

  return (
    <div
      className="trace"
      role="treegrid"
      aria-label="Steps"
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at < 0 ? undefined : `${id}-${at}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup">
        <Head span={describeSpan(range.to - range.from)} />
      </div>
      <div ref={list} role="rowgroup" className="trace-lines" style={{ height: lines.getTotalSize() }}>
        {lines.getVirtualItems().map(({ index, start, key }) => {
          const row = rows[index] as TraceRow
          return (
            <div
              key={key}
              role="none"
              data-index={index}
              ref={lines.measureElement}
              className="trace-item"
              style={{ transform: `translateY(${start - margin}px)` }}
            >
              <TraceLine
                id={`${id}-${index}`}
                row={row}
                index={index}
                range={range}
                end={Math.max(row.from, row.to ?? now)}
                isChosen={index === at}
                isClosed={tree.closed.has(row.key)}
                isOpen={tree.opened.has(row.key)}
                onToggle={tree.open}
                onFold={tree.fold}
              />
              {tree.opened.has(row.key) && (
                <div role="row">
                  <div role="gridcell" className="trace-details" style={{ paddingInlineStart: indentOf(row) }}>
                    <StepDetails row={row} namespace={namespace} />
                  </div>
                </div>
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

const indentOf = ({ depth }: TraceRow) => `min(40%, ${36 + depth * 16}px)`

function Head({ span }: { span: string }) {
  return (
    <div className="trace-head" role="row" aria-rowindex={1}>
      <div role="columnheader">Step</div>
      <div role="columnheader" data-end="true">
        Tokens
      </div>
      <div role="columnheader" data-end="true">
        Cost
      </div>
      <div role="columnheader" data-end="true">
        Time
      </div>
      <div role="columnheader">{span}</div>
    </div>
  )
}
