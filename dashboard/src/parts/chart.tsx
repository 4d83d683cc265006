// Bars over time, with the same numbers as a table.
import { type PointerEvent, useState } from 'react'
import { namedEvery, ticksUpTo } from './chart-scale.ts'
import { Foreign } from './foreign.tsx'
import { formatCompact } from './usage-facts.tsx'
import './chart.css'

export type Tone = 'good' | 'bad' | 'plain' | 'busy' | 'first' | 'second' | 'third' | 'fourth' | 'fifth'
/** Bars of one colour stand upon those of the series before. */
export type Series = { name: string; tone: Tone; values: readonly number[] }

export type ChartProps = {
  title: string
  /** RFC 3339, at the same distance from each other. */
  starts: readonly string[]
  series: readonly Series[]
  /** A number as the table has it. */
  format?: (value: number) => string
  /** A time as the table has it. */
  formatStart: (start: string) => string
}

/** The bar that is pointed at, and how far from the start of the drawing its middle is, in percent. */
type Pointed = { at: number; left: number }

const daySeconds = 86_400

/** As the reader's country writes it; midnight is named by its day. */
function nameTime(start: string, isByDay: boolean): string {
  const time = new Date(start)
  const isDay = isByDay || (time.getHours() === 0 && time.getMinutes() === 0)
  if (isDay) return time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
  return time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
}

const percent = (part: number, of: number) => `${(part / of) * 100}%`

/** Bars and lines are parts of the page, which have its colours in every theme and as much room as there is. */
function Drawing(props: ChartProps) {
  const { starts, series } = props
  const [pointed, setPointed] = useState<Pointed>()
  const highest = Math.max(...starts.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)), 0)
  const ticks = ticksUpTo(
    highest,
    series.every(({ values }) => values.every(Number.isInteger)),
  )
  const top = ticks.at(-1) ?? 1
  const every = namedEvery(starts.length)
  const [first = '', second = first] = starts
  const isByDay = Date.parse(second) - Date.parse(first) >= daySeconds * 1000

  function point({ currentTarget, clientX }: PointerEvent<HTMLElement>): void {
    const { left, width } = currentTarget.getBoundingClientRect()
    const at = Math.min(starts.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * starts.length)))
    setPointed({ at, left: ((at + 0.5) / starts.length) * 100 })
  }

  return (
    <div className="chart-drawing">
      {ticks.map((tick) => (
        <span key={tick} className="chart-line" style={{ insetBlockEnd: percent(tick, top) }}>
          <span>{formatCompact(tick)}</span>
        </span>
      ))}
      <div className="chart-bars" onPointerMove={point} onPointerLeave={() => setPointed(undefined)}>
        {starts.map((start, at) => (
          <div key={start} className="chart-bar">
            {series.map(({ name, tone, values }) => (
              <span key={name} data-tone={tone} style={{ blockSize: percent(values[at] ?? 0, top) }} />
            ))}
            {at % every === 0 && <small data-minor={(at / every) % 2 === 1}>{nameTime(start, isByDay)}</small>}
          </div>
        ))}
      </div>
      {pointed !== undefined && <ChartTip {...props} pointed={pointed} />}
    </div>
  )
}

export function Chart(props: ChartProps) {
  const { title, series } = props
  return (
    <figure className="chart" aria-label={title}>
      <div className="chart-frame" aria-hidden="true">
        <Drawing {...props} />
      </div>
      <ul className="chart-legend row">
        {series.map(({ name, tone }) => (
          <li key={name} className="row">
            <span className="chart-key" data-tone={tone} aria-hidden="true" /> <Foreign text={name} />
          </li>
        ))}
      </ul>
      <ChartTable {...props} />
    </figure>
  )
}

/** What the bar under the pointer stands for. */
function ChartTip({ starts, series, format = String, formatStart, pointed }: ChartProps & { pointed: Pointed }) {
  const { at, left } = pointed
  const start = starts[at]
  if (start === undefined) return null
  const isLate = at > starts.length / 2
  return (
    <div className="chart-tip" data-late={isLate} style={{ left: `${left}%` }}>
      <strong>{formatStart(start)}</strong>
      {series.map(({ name, tone, values }) => (
        <span key={name} className="row">
          <span className="chart-key" data-tone={tone} /> <Foreign text={name} />{' '}
          <span className="number">{format(values[at] ?? 0)}</span>
        </span>
      ))}
    </div>
  )
}

function ChartTable({ title, starts, series, format = String, formatStart }: ChartProps) {
  return (
    <details>
      <summary>The numbers as a table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="chart-table" aria-label={`${title}, as a table`} tabIndex={0}>
        <table className="plain-table">
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map(({ name }) => (
                <th key={name} scope="col" data-end="true">
                  <Foreign text={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {starts.map((start, at) => (
              <tr key={start}>
                <th scope="row">{formatStart(start)}</th>
                {series.map(({ name, values }) => (
                  <td key={name} data-end="true">
                    {format(values[at] ?? 0)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}
