// What happened to the task, newest first, as it happens.
import type { TimelineEvent } from '../../../../src/contract/api/tasks/task-records.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Ago, describeSpan } from '../../parts/time.tsx'
import type { TaskPlace } from './place.ts'
import { useTimeline } from './use-timeline.ts'

const bad = ['Failed', 'Interrupted', 'RetryScheduled', 'CallbackFailed']

function columnsOf(start: number): Column<TimelineEvent>[] {
  return [
    { title: 'When', width: '116px', cell: ({ createdAt }) => <Ago at={createdAt} /> },
    {
      title: 'After',
      width: '92px',
      atEnd: true,
      narrow: 'hidden',
      cell: ({ createdAt }) => <span className="number">+{describeSpan(Date.parse(createdAt) - start)}</span>,
    },
    {
      title: 'Event',
      width: '150px',
      cell: ({ type, phase = '' }) => (
        <span className="badge" data-tone={bad.includes(type) || bad.includes(phase) ? 'bad' : 'plain'}>
          <Foreign text={phase !== '' && type === 'PhaseChanged' ? phase : type} most={60} />
        </span>
      ),
    },
    {
      title: 'Message',
      width: 'minmax(0, 4fr)',
      narrow: 'second',
      cell: ({ message, reason }) => (
        <>
          <Foreign text={message} /> <Foreign className="soft" text={reason} />
        </>
      ),
    },
    { title: 'Attempt', width: '74px', atEnd: true, narrow: 'hidden', cell: ({ attempt }) => attempt || '' },
  ]
}

export function TimelineTab({ place }: { place: TaskPlace }) {
  const { events, isRead, error, retry } = useTimeline(place)
  const first = events[0]
  if (error !== undefined) return <Failure error={error} retry={retry} />
  if (first === undefined) return isRead ? <Empty title="Nothing has happened yet" /> : <Loading what="the timeline" />
  return (
    <Table
      label="Timeline"
      columns={columnsOf(Date.parse(first.createdAt))}
      items={events.toReversed()}
      keyOf={({ id }) => String(id)}
      fills
    />
  )
}
