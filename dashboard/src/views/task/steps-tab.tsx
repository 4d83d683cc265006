// The first tab: what became of the task, what it did step by step, and at the right what people look up.
import { Suspense, useMemo, useState } from 'react'
import { getTaskEvents, type TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { isSvcError } from '../../../../src/errors.ts'
import { useObjectRecord } from '../../data/records.ts'
import type { SummaryOf } from '../../data/summary.ts'
import { PendingApprovals } from '../../parts/approvals.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { listTraceRows } from '../../parts/trace/trace-rows.ts'
import { TraceTree } from '../../parts/trace/trace-tree.tsx'
import type { LiveTrace } from '../../parts/trace/use-trace.ts'
import { Details, Prompt } from './details.tsx'
import { Outcome } from './outcome.tsx'
import { isOver, type TaskPlace } from './place.ts'
import { useResult } from './use-result.ts'
import './steps-tab.css'

type StepsTabProps = { task: TaskDetail; place: TaskPlace; trace: LiveTrace }

export function StepsTab({ task, place, trace }: StepsTabProps) {
  // What is over is drawn in one go; a task that ends while one looks leaves its steps where they are until its result is there.
  const [wasOver] = useState(isOver(task))
  const result = useResult({ task, place })
  if (wasOver && result.isLoading) return <Loading what="the task" />
  const outcome = <Outcome task={task} place={place} steps={trace.steps} />
  return (
    <div className="task-columns">
      <div className="stack">
        <PendingApprovals namespace={task.metadata.namespace} tasks={[task as SummaryOf<'Task'>]} />
        {wasOver ? outcome : <Suspense fallback={null}>{outcome}</Suspense>}
        <Prompt task={task} />
        <Steps task={task} place={place} trace={trace} />
      </div>
      <Details task={task} />
    </div>
  )
}

/** Phases that are shown at most; a task with more of them has its steps. */
const maxEvents = 500

function Steps({ task, place, trace }: StepsTabProps) {
  const events = useObjectRecord('Task', getTaskEvents, place, { query: { limit: maxEvents } })
  const ends = isOver(task)
  const { items } = events.data ?? {}
  const rows = useMemo(() => listTraceRows(trace.steps, (items ?? []).toReversed(), ends), [trace.steps, items, ends])
  // Of a task that is gone the page says so itself.
  const error = trace.error ?? events.error
  return (
    <>
      {error !== null && error !== undefined && !isSvcError(error, 'NotFound') && (
        <Failure error={error} retry={trace.error === undefined ? () => void events.refetch() : trace.retry} />
      )}
      {rows.length > 0 && <TraceTree rows={rows} namespace={place.namespace} />}
      {rows.length === 0 && !(trace.isRead && events.isFetched) && <Loading what="the steps" />}
      {rows.length === 0 && trace.isRead && events.isFetched && <Empty title="It has done nothing yet" />}
    </>
  )
}
