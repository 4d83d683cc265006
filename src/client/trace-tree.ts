// The tree of a trace, from the flat list that the service answers.
import type { TraceStep } from '../contract/api/tasks/trace.ts'

export type TraceNode = { depth: number; step: TraceStep; hasChildren: boolean }

/** Ids of steps are those of their attempt. */
export function keyOfStep({ attempt, id }: Pick<TraceStep, 'attempt' | 'id'>): string {
  return `${attempt}/${id}`
}

const byStart = (one: TraceStep, other: TraceStep) =>
  one.attempt - other.attempt ||
  one.startedAt.localeCompare(other.startedAt) ||
  one.id.localeCompare(other.id, 'en', { numeric: true })

/** In the order of a tree; a step whose parent is not among them stands at the top. */
export function listTraceNodes(steps: readonly TraceStep[]): TraceNode[] {
  const known = new Set(steps.map(keyOfStep))
  const children = Map.groupBy(steps.toSorted(byStart), (step) => {
    const parent = step.parent === undefined ? '' : keyOfStep({ ...step, id: step.parent })
    return step.parent !== step.id && known.has(parent) ? parent : ''
  })
  const nodes: TraceNode[] = []
  const open = (children.get('') ?? []).toReversed().map((step) => ({ depth: 0, step }))
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth, step } = next
    const below = children.get(keyOfStep(step)) ?? []
    nodes.push({ depth, step, hasChildren: below.length > 0 })
    // Read from the end, so that the first one comes next; a trace may be as deep as it is long.
    for (const child of below.toReversed()) open.push({ depth: depth + 1, step: child })
  }
  return nodes
}

/** When a step has ended, in milliseconds since 1970; one that runs ends now. */
export function endOfStep({ startedAt, durationMs }: TraceStep, now: number): number {
  return durationMs === undefined ? now : Date.parse(startedAt) + durationMs
}

/** What a step is, in one line. */
export function describeStep({ kind, name, input, task, outcome, error, model, attempt }: TraceStep): string {
  const tokens = model && `${model.inputTokens} in, ${model.outputTokens} out`
  const cost = model?.cost === undefined ? undefined : `${model.cost.toFixed(4)} ${model.currency ?? ''}`.trim()
  const state = outcome === 'ok' ? undefined : (outcome ?? 'running')
  const run = name === 'turn' ? `turn ${attempt}` : name
  const what = kind === 'model' ? name : kind === 'attempt' ? run : `${name} ${task ?? input ?? ''}`
  return [what, tokens, cost, state, error].filter(Boolean).join(', ').replace(/\s+/g, ' ')
}
