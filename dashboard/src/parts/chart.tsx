// Bars over time, with the same numbers as a table. The drawing is fetched when the first chart is shown.
import { type RefObject, useEffect, useRef, useState } from 'react'
import type UPlot from 'uplot'
import { Foreign } from './foreign.tsx'
import { useTheme } from './theme.ts'
import { formatCompact } from './usage-facts.tsx'
import 'uplot/dist/uPlot.min.css'
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

const height = 190

/** The bar that is pointed at, and how far from the start of the drawing its middle is. */
type Pointed = { at: number; left: number }

/** Each series with those below it; drawn from the highest down, each covers the rest. */
function stack(series: readonly Series[]): number[][] {
  const sums: number[] = []
  return series.map(({ values }) => values.map((value, at) => (sums[at] = (sums[at] ?? 0) + value)))
}

type Drawing = Pick<ChartProps, 'starts' | 'series'> & {
  colours: string[]
  line: string
  text: string
  onPoint: (pointed: Pointed | undefined) => void
}

/** From the first time to the end of the last bar, which is as wide as the others. */
function rangeOf(starts: readonly string[]): [number, number] {
  const [first = 0, second = first] = starts.map((start) => Date.parse(start) / 1000)
  return [first, first + Math.max(1, second - first) * starts.length]
}

const daySeconds = 86_400

/** As the reader's country writes them; midnight is named by its day. */
function nameTimes(_: UPlot, seconds: number[]): string[] {
  const step = (seconds[1] ?? 0) - (seconds[0] ?? 0)
  return seconds.map((second) => {
    const time = new Date(second * 1000)
    const isDay = step >= daySeconds || (time.getHours() === 0 && time.getMinutes() === 0)
    if (isDay) return time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
    return time.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })
  })
}

/** The bar that covers the position: bars begin at their time. */
function readPointed(plot: UPlot, starts: readonly string[]): Pointed | undefined {
  const { left = -1, top = -1 } = plot.cursor
  if (left < 0 || top < 0) return undefined
  const [first, end] = rangeOf(starts)
  const step = (end - first) / starts.length
  const at = Math.floor((plot.posToVal(left, 'x') - first) / step)
  if (at < 0 || at >= starts.length) return undefined
  return { at, left: plot.valToPos(first + (at + 0.5) * step, 'x') + plot.bbox.left / devicePixelRatio }
}

function describe(
  { starts, series, colours, line, text, onPoint }: Drawing,
  bars: UPlot.Series.PathBuilder | undefined,
) {
  const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
  return {
    cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
    hooks: { setCursor: [(plot: UPlot) => onPoint(readPointed(plot, starts))] },
    legend: { show: false },
    axes: [
      { ...axis, values: nameTimes },
      { ...axis, size: 46, values: (_: UPlot, values: number[]) => values.map(formatCompact) },
    ],
    scales: {
      x: { range: () => rangeOf(starts) },
      y: { range: (_: UPlot, _low: number, high: number): [number, number] => [0, high > 0 ? high * 1.05 : 1] },
    },
    series: [
      {},
      ...series
        .map(({ name }, at) => ({
          label: name,
          fill: colours[at] ?? text,
          width: 0,
          points: { show: false },
          ...(bars && { paths: bars }),
        }))
        .toReversed(),
    ],
  }
}

async function draw(place: HTMLElement, drawing: Drawing): Promise<UPlot> {
  const { default: Plot } = await import('uplot')
  const bars = Plot.paths.bars?.({ size: [0.8, 40], align: 1 })
  const times = drawing.starts.map((start) => Date.parse(start) / 1000)
  const data = [times, ...stack(drawing.series).toReversed()] as UPlot.AlignedData
  return new Plot({ ...describe(drawing, bars), width: Math.max(120, place.clientWidth), height }, data, place)
}

/** Colours as the browser computes them: a canvas knows no variables. */
function readColours(legend: HTMLElement): Pick<Drawing, 'colours' | 'line' | 'text'> {
  const style = getComputedStyle(legend)
  const keys = [...legend.querySelectorAll<HTMLElement>('.chart-key')]
  return {
    colours: keys.map((key) => getComputedStyle(key).backgroundColor),
    line: style.borderTopColor,
    text: style.color,
  }
}

function useDrawing(
  { starts, series }: ChartProps,
  place: RefObject<HTMLDivElement | null>,
  legend: RefObject<HTMLUListElement | null>,
  onPoint: Drawing['onPoint'],
) {
  const theme = useTheme()
  const content = JSON.stringify([starts, series])
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew when the content or the colours change
  useEffect(() => {
    const [element, keys] = [place.current, legend.current]
    if (element === null || keys === null) return undefined
    let isLeft = false
    let plot: UPlot | undefined
    void draw(element, { starts, series, onPoint, ...readColours(keys) }).then((drawn) => {
      plot = drawn
      if (isLeft) drawn.destroy()
    })
    const sizes = new ResizeObserver(() => plot?.setSize({ width: Math.max(120, element.clientWidth), height }))
    sizes.observe(element)
    return () => {
      isLeft = true
      sizes.disconnect()
      plot?.destroy()
    }
  }, [content, theme])
}

export function Chart(props: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLUListElement>(null)
  const [pointed, setPointed] = useState<Pointed>()
  useDrawing(props, place, legend, setPointed)
  const { title, series } = props
  return (
    <figure className="chart" aria-label={title}>
      <div className="chart-frame" aria-hidden="true">
        <div ref={place} className="chart-place" />
        {pointed !== undefined && <ChartTip {...props} pointed={pointed} />}
      </div>
      <ul ref={legend} className="chart-legend row">
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
    <div className="chart-tip" data-late={isLate} style={{ left }}>
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
