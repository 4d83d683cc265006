// biome-ignore-all lint/a11y/useSemanticElements: rows that are not there cannot be in a <table>
// biome-ignore-all lint/a11y/useFocusableInteractive: the tree has the focus and names the row that is chosen
// One line of the tree of steps.
import { memo } from 'react'
import { Foreign } from '../foreign.tsx'
import { describeSpan } from '../time.tsx'
import { formatCompact } from '../usage-facts.tsx'
import { noteOf, titleOf } from './step-words.ts'
import { describeSums, type TraceRow, toneOf } from './trace-rows.ts'

type TraceLineProps = {
  id: string
  row: TraceRow
  index: number
  range: { from: number; to: number }
  /** Of a step that runs: now. */
  end: number
  isChosen: boolean
  isClosed: boolean
  isOpen: boolean
  onToggle: (key: string) => void
  onFold: (key: string) => void
}

function Line({ id, row, index, range, end, isChosen, isClosed, isOpen, onToggle, onFold }: TraceLineProps) {
  const { depth, hasChildren, key, sums, from } = row
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    <div
      id={id}
      role="row"
      className="trace-line"
      aria-rowindex={index + 2}
      aria-level={depth + 1}
      aria-expanded={hasChildren ? !isClosed : undefined}
      aria-selected={isChosen}
      data-open={isOpen}
      onClick={() => onToggle(key)}
    >
      <div role="gridcell" className="trace-name" style={{ paddingInlineStart: `min(40%, ${depth * 16}px)` }}>
        <span
          className="trace-fold"
          data-closed={isClosed}
          aria-hidden="true"
          onClick={(event) => {
            if (!hasChildren) return
            event.stopPropagation()
            onFold(key)
          }}
        >
          {hasChildren ? (isClosed ? '▸' : '▾') : '·'}
        </span>
        <Foreign className="trace-title" text={titleOf(row)} most={120} />
        <Foreign className="soft trace-note" text={noteOf(row)} most={300} />
      </div>
      <div role="gridcell" className="number soft" data-end="true" data-narrow="hidden">
        {sums.tokens > 0 && formatCompact(sums.tokens)}
      </div>
      <div role="gridcell" className="number soft" data-end="true" data-narrow="hidden">
        <Foreign text={describeSums(sums)} />
      </div>
      <div role="gridcell" className="number soft" data-end="true">
        {end > from || row.step !== undefined ? describeSpan(end - from) : ''}
      </div>
      <div role="gridcell">
        <Bar row={row} range={range} end={end} />
      </div>
    </div>
  )
}

function Bar({ row, range, end }: { row: TraceRow; range: { from: number; to: number }; end: number }) {
  const whole = Math.max(1, range.to - range.from)
  const left = Math.min(100, ((row.from - range.from) / whole) * 100)
  const width = Math.max(0, Math.min(100 - left, ((end - row.from) / whole) * 100))
  return (
    <div className="trace-track">
      <span
        className="trace-bar"
        data-tone={toneOf(row)}
        data-runs={row.to === undefined}
        style={{ insetInlineStart: `min(${left}%, 100% - 3px)`, width: `${width}%` }}
      />
    </div>
  )
}

export const TraceLine = memo(Line)
