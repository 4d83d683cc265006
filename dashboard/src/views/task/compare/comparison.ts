// Two runs of tasks, fact by fact and step by step.
import { diffArrays } from 'diff'
import { formatMoney } from '../../../../../src/client/money.ts'
import type { AgentVersion } from '../../../../../src/contract/api/agents/agents.ts'
import type { TaskDetail } from '../../../../../src/contract/api/tasks/tasks.ts'
import type { TraceStep } from '../../../../../src/contract/api/tasks/trace.ts'
import { describeChange } from '../../../parts/change.ts'
import { describeFailure } from '../../../parts/failure-words.ts'
import { describeSpan } from '../../../parts/time.tsx'
import { noteOf, titleOf } from '../../../parts/trace/step-words.ts'
import { listTraceRows, type TraceRow } from '../../../parts/trace/trace-rows.ts'
import { formatCount } from '../../../parts/usage-facts.tsx'

/** `version`: of its agent, when it began. */
export type Run = { task: TaskDetail; steps: readonly TraceStep[]; version?: AgentVersion | undefined }

/** `size`: of numbers, which tell how much they changed. */
type Value = { text: string; to?: string | undefined; size?: number | undefined }

export type ComparedFact = {
  name: string
  a: Value | undefined
  b: Value | undefined
  differs: boolean
  /** `+25%`, of numbers. */
  change: string | undefined
}

const words = (text: string | undefined): Value | undefined =>
  text === undefined || text === '' ? undefined : { text }
const number = (size: number | undefined): Value | undefined =>
  size === undefined ? undefined : { text: formatCount(size), size }

function readAgent({ task: { spec, metadata } }: Run): Value | undefined {
  const { agentRef } = spec
  if (agentRef === undefined) return undefined
  return { text: agentRef.name, to: `/agents/${agentRef.namespace ?? metadata.namespace}/${agentRef.name}` }
}

function readVersion({ task: { spec, metadata }, version }: Run): Value | undefined {
  if (version === undefined || spec.agentRef === undefined) return undefined
  const { namespace, name } = { namespace: metadata.namespace, ...spec.agentRef }
  return { text: `${version.number}`, to: `/agents/${namespace}/${name}?tab=versions&to=${version.number}` }
}

/** All that were called, in that order. */
function readModels({ task, steps }: Run): Value | undefined {
  const called = new Set(steps.flatMap(({ model }) => model?.name || []))
  return words([...called].join(', ') || task.spec.ai?.model)
}

/** `now`: the end of what still runs. */
function readDuration({ task: { status = {} } }: Run, now: number): Value | undefined {
  const from = status.firstStartTime ?? status.startTime
  if (from === undefined) return undefined
  const size = Math.max(0, (status.completionTime ? Date.parse(status.completionTime) : now) - Date.parse(from))
  return { text: describeSpan(size), size }
}

function readCost({ task: { status } }: Run): Value | undefined {
  const { cost, currency } = status?.usage ?? {}
  return cost === undefined ? undefined : { text: formatMoney(cost, currency), size: cost }
}

const countKind = ({ steps }: Run, kind: TraceStep['kind']) => steps.filter((step) => step.kind === kind).length

const facts: [name: string, read: (run: Run, now: number) => Value | undefined][] = [
  ['State', ({ task }) => ({ text: task.status?.phase ?? 'Pending' })],
  [
    'Cause',
    ({ task: { status } }) => (status?.phase === 'Failed' ? words(describeFailure(status.failureReason)) : undefined),
  ],
  ['Message', ({ task: { status } }) => words(status?.message)],
  ['Type', ({ task: { spec } }) => ({ text: spec.type })],
  ['Agent', readAgent],
  ['Version', readVersion],
  ['Model', readModels],
  ['Duration', readDuration],
  ['Cost', readCost],
  ['Tokens in', ({ task: { status } }) => number(status?.usage?.inputTokens)],
  ['Tokens out', ({ task: { status } }) => number(status?.usage?.outputTokens)],
  ['Model calls', (run) => number(countKind(run, 'model'))],
  ['Tool calls', (run) => number(countKind(run, 'tool'))],
  ['Attempts', ({ task: { status } }) => number(status?.attempts)],
]

function compareValues(name: string, a: Value | undefined, b: Value | undefined): ComparedFact {
  const [before, after] = [a?.size, b?.size]
  const isSized = before !== undefined && after !== undefined && before !== after
  return { name, a, b, differs: a?.text !== b?.text, change: isSized ? describeChange(after, before) : undefined }
}

/** Those that one of the two has. */
export function compareFacts(a: Run, b: Run, now: number): ComparedFact[] {
  return facts
    .map(([name, read]) => compareValues(name, read(a, now), read(b, now)))
    .filter(({ a: before, b: after }) => before !== undefined || after !== undefined)
}

/** What both did, beside each other; what only one did stands alone. */
export type StepPair = { a?: TraceRow; b?: TraceRow; differs: boolean }

/** Beyond so many differences the steps have nothing in common that is worth the search. */
const maxDifferences = 2000

const keyOfRow = (row: TraceRow) => `${row.depth} ${row.step?.kind ?? ''} ${titleOf(row)}`

function pair(a: TraceRow | undefined, b: TraceRow | undefined): StepPair {
  const differs = a === undefined || b === undefined || noteOf(a) !== noteOf(b)
  return { ...(a && { a }), ...(b && { b }), differs }
}

/** Steps of the same name at the same depth are a pair. */
export function pairSteps(before: readonly TraceStep[], after: readonly TraceStep[]): StepPair[] {
  const [rows, others] = [listTraceRows(before, [], true), listTraceRows(after, [], true)]
  const parts = diffArrays(rows.map(keyOfRow), others.map(keyOfRow), { maxEditLength: maxDifferences })
  if (parts === undefined) {
    return Array.from({ length: Math.max(rows.length, others.length) }, (_, at) => pair(rows[at], others[at]))
  }
  let [at, other] = [0, 0]
  return parts.flatMap(({ added, removed, count }) =>
    Array.from({ length: count }, () => pair(added ? undefined : rows[at++], removed ? undefined : others[other++])),
  )
}
