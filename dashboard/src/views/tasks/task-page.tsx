// One task: what it is and does, its timeline, its log and its result.
import { useState } from 'react'
import { useParams } from 'react-router'
import {
  cancelTask,
  getTask,
  getTaskEvents,
  getTaskLogs,
  getTaskResult,
  type TaskDetail,
} from '../../../../src/contract/api/tasks.ts'
import { terminalPhases } from '../../../../src/contract/resources/task.ts'
import { Page } from '../../app/page.tsx'
import { useParameters } from '../../app/scope.ts'
import { useChange, useObject, useRecord, useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Ago, Span } from '../../parts/time.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'

type Place = { namespace: string; name: string }

const tabs = [
  { name: '', title: 'Summary' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'log', title: 'Log' },
]

export default function TaskPage() {
  const { namespace = '', name = '' } = useParams()
  const place = { namespace, name }
  const [parameters] = useParameters()
  const task = useObject('Task', getTask, place)
  const phase = task.data?.status?.phase ?? 'Pending'
  const heading = (
    <span className="row">
      <Foreign text={name} /> {task.data !== undefined && <Badge>{phase}</Badge>}
    </span>
  )
  const isOver = terminalPhases.some((one) => one === phase)
  return (
    <Page title={name} heading={heading} actions={!isOver && task.data !== undefined && <Cancel {...place} />}>
      {task.error !== null && <Failure error={task.error} retry={() => void task.refetch()} />}
      {task.isLoading && <Loading what="the task" />}
      <Tabs label="Parts of the task" tabs={tabs} />
      {task.data !== undefined && <Tab name={parameters.get('tab') ?? ''} task={task.data} place={place} />}
    </Page>
  )
}

function Tab({ name, task, place }: { name: string; task: TaskDetail; place: Place }) {
  if (name === 'timeline') return <Timeline {...place} />
  if (name === 'log') return <Log {...place} />
  return <Summary task={task} place={place} />
}

function Cancel({ namespace, name }: Place) {
  const [isAsking, setAsking] = useState(false)
  const cancel = useChange(cancelTask)
  const run = () =>
    cancel.mutate(
      { params: { id: name }, query: { namespace } },
      { onSuccess: () => say(`${name} is cancelled`), onError: sayFailure, onSettled: () => setAsking(false) },
    )
  return (
    <>
      <Button look="danger" onClick={() => setAsking(true)}>
        Cancel
      </Button>
      {isAsking && (
        <Confirm
          title="Cancel this task?"
          action="Cancel the task"
          isBusy={cancel.isPending}
          onConfirm={run}
          onClose={() => setAsking(false)}
        >
          <p>It stops at once, and so do its child tasks. Their logs stay.</p>
        </Confirm>
      )}
    </>
  )
}

function Summary({ task, place }: { task: TaskDetail; place: Place }) {
  const { status, spec, metadata } = task
  return (
    <div className="grid">
      <section className="card">
        <h2>What it is</h2>
        <Facts
          of={[
            ['Type', spec.type],
            ['Agent', spec.agentRef && <Foreign text={spec.agentRef.name} />],
            ['Message', status?.message && <Foreign text={status.message} />],
            ['Made', <Ago key="made" at={metadata.creationTimestamp} />],
            ['Took', <Span key="took" from={status?.startTime} to={status?.completionTime} />],
            ['Attempts', status?.attempts],
          ]}
        />
      </section>
      {status?.phase === 'Succeeded' && <Result {...place} />}
    </div>
  )
}

function Result({ namespace, name }: Place) {
  const result = useRecord('Task', getTaskResult, { params: { id: name }, query: { namespace } })
  return (
    <section className="card">
      <h2>Result</h2>
      {result.error !== null && <Failure error={result.error} />}
      {result.data !== undefined && <ForeignBlock label="Result" text={result.data.result} />}
    </section>
  )
}

function Timeline({ namespace, name }: Place) {
  const events = useRecordPages('Task', getTaskEvents, { params: { id: name }, query: { namespace } })
  if (events.error !== null) return <Failure error={events.error} />
  return (
    <ol className="card stack">
      {events.items.map(({ id, createdAt, message }) => (
        <li key={id} className="row">
          <Ago at={createdAt} /> <Foreign text={message} />
        </li>
      ))}
      {events.hasMore && <Button onClick={events.loadMore}>Older</Button>}
    </ol>
  )
}

function Log({ namespace, name }: Place) {
  const log = useRecord('Task', getTaskLogs, { params: { id: name }, query: { namespace } })
  if (log.error !== null) return <Failure error={log.error} />
  if (log.data === undefined) return <Loading what="the log" />
  if (log.data.logs === '') return <Empty title="Nothing is logged yet" />
  return <ForeignBlock label="Log" text={log.data.logs} />
}
