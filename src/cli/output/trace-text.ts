// The trace of a task as text: a tree of its steps, each with a bar for when it was and how long it took.
import { describeStep, endOfStep, listTraceNodes } from '../../client/trace-tree.ts'
import type { TraceStep } from '../../contract/api/tasks/trace.ts'

const barWidth = 24
const maxLabel = 56

function formatMs(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

function drawBar(step: TraceStep, { from, to }: { from: number; to: number }, now: number): string {
  const scale = barWidth / Math.max(1, to - from)
  const start = Math.min(barWidth - 1, Math.max(0, Math.floor((Date.parse(step.startedAt) - from) * scale)))
  const length = Math.max(
    1,
    Math.min(barWidth - start, Math.round((endOfStep(step, now) - Date.parse(step.startedAt)) * scale)),
  )
  return `${' '.repeat(start)}${'█'.repeat(length)}`.padEnd(barWidth)
}

/** Lines of the tree, at most `width` wide. */
export function formatTrace(steps: readonly TraceStep[], now: Date, width?: number): string[] {
  const at = now.getTime()
  const starts = steps.map(({ startedAt }) => Date.parse(startedAt))
  const range = {
    from: starts.reduce((a, b) => Math.min(a, b), at),
    to: steps.reduce((a, step) => Math.max(a, endOfStep(step, at)), 0),
  }
  const max = width === undefined ? maxLabel : Math.max(20, width - barWidth - 12)
  return listTraceNodes(steps).map(({ depth, step }) => {
    const label = `${'  '.repeat(depth)}${describeStep(step)}`
    const time = step.durationMs === undefined ? '...' : formatMs(step.durationMs)
    const cut = label.length > max ? `${label.slice(0, max - 1)}…` : label.padEnd(max)
    return `${cut} ${time.padStart(9)} ${drawBar(step, range, at)}`.trimEnd()
  })
}
