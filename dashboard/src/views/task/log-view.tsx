// Lines of a log, of which only those in sight are in the page.
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, useEffect, useLayoutEffect, useRef } from 'react'
import { describeBytes } from '../../../../src/lib/bytes.ts'
import { AnsiText } from '../../parts/ansi-text.tsx'
import { visible } from '../../parts/visible-text.ts'
import { type LogLines, longestShown, splitFound } from './log-lines.ts'

const lineHeight = 19
const nearEnd = 8

type LogViewProps = {
  lines: LogLines
  isWrapped: boolean
  /** Whether the end is kept in sight. */
  follows: boolean
  onFollow: (follows: boolean) => void
  wanted: string
  /** Number of the line to bring in sight. */
  chosen: number | undefined
  onShowAll: (line: number) => void
}

export function LogView({ lines, isWrapped, follows, onFollow, wanted, chosen, onShowAll }: LogViewProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const lastTop = useRef(0)
  const first = lines.dropped()
  const rows = useVirtualizer({
    count: lines.count(),
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    overscan: 24,
  })
  const size = rows.getTotalSize()
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights of rows change with it
  useEffect(() => rows.measure(), [isWrapped])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the size
  useLayoutEffect(() => {
    const element = scroller.current
    if (follows && element !== null) element.scrollTop = element.scrollHeight
  }, [follows, size])
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each line that is chosen
  useEffect(() => {
    if (chosen !== undefined) rows.scrollToIndex(chosen - first, { align: 'center' })
  }, [chosen])

  function onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = scroller.current as HTMLDivElement
    const isBack = scrollTop < lastTop.current
    lastTop.current = scrollTop
    const isAtEnd = scrollHeight - scrollTop - clientHeight < nearEnd
    if (isAtEnd !== follows && (isAtEnd || isBack)) onFollow(isAtEnd)
  }

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section ref={scroller} className="log" aria-label="Log" tabIndex={0} onScroll={onScroll} data-wrapped={isWrapped}>
      <div className="log-lines" style={{ height: size }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            data-index={index}
            ref={isWrapped ? rows.measureElement : undefined}
            className="log-line"
            data-chosen={first + index === chosen}
            style={{ transform: `translateY(${start}px)` }}
          >
            <Line number={first + index} text={lines.at(index)} wanted={wanted} onShowAll={onShowAll} />
          </div>
        ))}
      </div>
    </section>
  )
}

type LineProps = { number: number; text: string; wanted: string; onShowAll: (line: number) => void }

const Line = memo(function Line({ number, text, wanted, onShowAll }: LineProps) {
  const isLong = text.length > longestShown
  const shown = isLong ? text.slice(0, longestShown) : text
  return (
    <>
      <span className="log-number" aria-hidden="true">
        {number + 1}
      </span>
      {isLong && (
        <button type="button" className="log-more" onClick={() => onShowAll(number)}>
          Show all ({describeBytes(text.length)})
        </button>
      )}
      <bdi dir="auto" className="foreign">
        {wanted === '' && <AnsiText text={shown} />}
        {wanted !== '' &&
          splitFound(visible(shown), wanted).map((piece, at) =>
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text have no other name
            at % 2 === 1 ? <mark key={at}>{piece}</mark> : piece,
          )}
        {isLong && '…'}
      </bdi>
    </>
  )
})
