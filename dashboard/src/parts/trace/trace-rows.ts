// What the tree of steps shows: the phases of the task at the first level, and the steps of each attempt below it.
import { formatMoney } from '../../../../src/client/money.ts'
import { endOfStep, keyOfStep, listTraceNodes } from '../../../../src/client/trace-tree.ts'
import type { TimelineEvent } from '../../../../src/contract/api/tasks/task-records.ts'
import type { TraceStep } from '../../../../src/contract/api/tasks/trace.ts'

export type Sums = { tokens: number; costs: ReadonlyMap<string, number> }

export type TraceRow = {
  key: string
  depth: number
  hasChildren: boolean
  /** Milliseconds since 1970; a step that runs has no end. */
  from: number
  to: number | undefined
  /** Of its own call of a model, or of all calls of the attempt. */
  sums: Sums
} & ({ step: TraceStep; event?: undefined } | { event: TimelineEvent; step?: undefined })

/** Events that the steps of the attempt say as well, with more. */
const alsoSteps = new Set([
  ...['ToolCalled', 'ToolFailed', 'ToolRefused', 'TurnStarted', 'FilesEdited', 'ModelRetried', 'Answering'],
  ...['Parked', 'ApprovalRequested'],
])

/** A command has steps only for the hosts that it was refused. */
function isPhase({ type, phase }: TimelineEvent, kinds: ReadonlySet<TraceStep['kind']>): boolean {
  if (type === 'NetworkRefused') return !kinds.has('network')
  if (!kinds.has('attempt')) return true
  return !alsoSteps.has(type) && !(type === 'PhaseChanged' && phase === 'Running')
}

function sumOf(steps: readonly TraceStep[]): Sums {
  let tokens = 0
  const costs = new Map<string, number>()
  for (const { model } of steps) {
    if (model === undefined) continue
    tokens += model.inputTokens + model.outputTokens
    const { cost, currency = '' } = model
    if (cost !== undefined) costs.set(currency, (costs.get(currency) ?? 0) + cost)
  }
  return { tokens, costs }
}

/** `0.42 USD`; empty where nothing has a price. */
export function describeSums({ costs }: Sums): string {
  return [...costs].map(([currency, cost]) => formatMoney(cost, currency)).join(' + ')
}

function rowsOfSteps(steps: readonly TraceStep[]): TraceRow[] {
  const byAttempt = Map.groupBy(steps, ({ attempt }) => attempt)
  return listTraceNodes(steps).map(({ step, depth, hasChildren }) => ({
    key: keyOfStep(step),
    depth,
    hasChildren,
    from: Date.parse(step.startedAt),
    to: step.durationMs === undefined ? undefined : endOfStep(step, 0),
    sums: sumOf(step.kind === 'attempt' ? (byAttempt.get(step.attempt) ?? []) : [step]),
    step,
  }))
}

const nothing: Sums = { tokens: 0, costs: new Map() }

/** An event lasts until the next one, or until an attempt begins. The last one of a task that is over is a moment. */
function rowsOfEvents(events: readonly TimelineEvent[], starts: readonly number[], isOver: boolean): TraceRow[] {
  const moments = [...events.map(({ createdAt }) => Date.parse(createdAt)), ...starts].sort((a, b) => a - b)
  return events.map((event) => {
    const from = Date.parse(event.createdAt)
    const next = moments.find((moment) => moment > from)
    return {
      key: `event ${event.id}`,
      depth: 0,
      hasChildren: false,
      sums: nothing,
      event,
      from,
      to: next ?? (isOver ? from : undefined),
    }
  })
}

/** `events`: oldest first. */
export function listTraceRows(
  steps: readonly TraceStep[],
  events: readonly TimelineEvent[],
  isOver: boolean,
): TraceRow[] {
  const below = rowsOfSteps(steps)
  const tops = below.filter(({ depth }) => depth === 0)
  const kinds = new Set(steps.map(({ kind }) => kind))
  const phases = events.filter((event) => isPhase(event, kinds))
  const waiting = rowsOfEvents(
    phases,
    tops.map(({ from }) => from),
    isOver,
  ).reverse()
  const rows: TraceRow[] = []
  for (const row of below) {
    while (row.depth === 0 && (waiting.at(-1)?.from ?? Number.POSITIVE_INFINITY) <= row.from) {
      rows.push(waiting.pop() as TraceRow)
    }
    rows.push(row)
  }
  return [...rows, ...waiting.reverse()]
}

/** Those that no closed one hides. */
export function listOpenRows(rows: readonly TraceRow[], closed: ReadonlySet<string>): TraceRow[] {
  if (closed.size === 0) return [...rows]
  let hiddenBelow = Number.POSITIVE_INFINITY
  return rows.filter(({ key, depth }) => {
    if (depth > hiddenBelow) return false
    hiddenBelow = closed.has(key) ? depth : Number.POSITIVE_INFINITY
    return true
  })
}

/** The time that the bars are drawn over. */
export function rangeOf(rows: readonly TraceRow[], now: number): { from: number; to: number } {
  let from = Number.POSITIVE_INFINITY
  let to = 0
  for (const row of rows) {
    from = Math.min(from, row.from)
    to = Math.max(to, row.to ?? now)
  }
  return { from: Number.isFinite(from) ? from : now, to: Math.max(to, from) }
}

type RowTone = 'model' | 'tool' | 'good' | 'bad' | 'warn' | 'plain'

const tones: Partial<Record<TraceStep['kind'], RowTone>> = { model: 'model', tool: 'tool', task: 'good' }
const badEvents = ['Failed', 'Interrupted', 'RetryScheduled', 'CallbackFailed']

export function toneOf({ step, event }: TraceRow): RowTone {
  if (event !== undefined)
    return badEvents.some((word) => word === event.type || word === event.phase) ? 'bad' : 'plain'
  if (step.outcome === 'failed' || step.outcome === 'refused' || step.outcome === 'interrupted') return 'bad'
  if (step.outcome === 'waiting' || step.kind === 'approval') return 'warn'
  return tones[step.kind] ?? 'plain'
}
