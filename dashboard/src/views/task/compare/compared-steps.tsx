// What two runs did, step beside step.
import { useMemo, useState } from 'react'
import type { TraceStep } from '../../../../../src/contract/api/tasks/trace.ts'
import { Button } from '../../../parts/button.tsx'
import { count } from '../../../parts/count.ts'
import { Foreign } from '../../../parts/foreign.tsx'
import { Loading } from '../../../parts/states.tsx'
import { describeSpan } from '../../../parts/time.tsx'
import { noteOf, titleOf } from '../../../parts/trace/step-words.ts'
import { describeSums, type TraceRow, toneOf } from '../../../parts/trace/trace-rows.ts'
import { formatCompact } from '../../../parts/usage-facts.tsx'
import { pairSteps, type StepPair } from './comparison.ts'

const mostAtOnce = 200

type StepsProps = { a: readonly TraceStep[]; b: readonly TraceStep[]; isRead: boolean }

export function ComparedSteps({ a, b, isRead }: StepsProps) {
  const pairs = useMemo(() => pairSteps(a, b), [a, b])
  const [most, setMost] = useState(mostAtOnce)
  if (!isRead) return <Loading what="the steps" />
  if (pairs.length === 0) return null
  const differing = pairs.filter(({ differs }) => differs).length
  return (
    <section className="stack" aria-label="Steps">
      <h2>
        Steps <span className="soft">{differing === 0 ? 'the same in both' : `${count(differing, 'difference')}`}</span>
      </h2>
      <ol className="card compare-steps">
        {pairs.slice(0, most).map((pair) => (
          <Pair key={`${pair.a?.key} ${pair.b?.key}`} pair={pair} />
        ))}
      </ol>
      {pairs.length > most && (
        <div>
          <Button onClick={() => setMost(most + mostAtOnce)}>Show more ({pairs.length - most} steps)</Button>
        </div>
      )}
    </section>
  )
}

function stateOf({ a, b, differs }: StepPair): 'removed' | 'added' | 'changed' | undefined {
  if (a === undefined) return 'added'
  if (b === undefined) return 'removed'
  return differs ? 'changed' : undefined
}

const stateWords = { removed: 'only in the first', added: 'only in the second', changed: 'differs' }

function Pair({ pair }: { pair: StepPair }) {
  const state = stateOf(pair)
  return (
    <li className="compare-pair" data-change={state}>
      <Step row={pair.a} />
      <Step row={pair.b} />
      {state !== undefined && <span className="visually-hidden">{stateWords[state]}</span>}
    </li>
  )
}

function Step({ row }: { row: TraceRow | undefined }) {
  if (row === undefined) return <div className="compare-step" data-none="true" />
  const { depth, sums, from, to } = row
  return (
    <div
      className="compare-step"
      data-tone={toneOf(row)}
      style={{ paddingInlineStart: `${10 + Math.min(depth, 6) * 12}px` }}
    >
      <span className="cut">
        <Foreign text={titleOf(row)} most={120} /> <Foreign className="soft" text={noteOf(row)} most={300} />
      </span>
      <span className="soft number">
        {[
          sums.tokens > 0 && `${formatCompact(sums.tokens)} tokens`,
          describeSums(sums),
          to === undefined ? 'runs' : describeSpan(to - from),
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
    </div>
  )
}
