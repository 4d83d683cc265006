// Tasks that run again and again: when, and what came of the last runs.
import { Link } from 'react-router'
import { createTask, runTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { useObjects } from '../../data/lists.ts'
import { useChange } from '../../data/records.ts'
import { namespaceOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { pathOf, type TaskRow, timeColumns } from '../../parts/task-columns.tsx'
import { Ago } from '../../parts/time.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'
import { useSuspend } from './suspend.ts'

const place = (task: TaskRow) => `${namespaceOf(task)}/${task.metadata.name}`

export default function SchedulesPage() {
  const { query } = useScope()
  const [parameters, change] = useParameters()
  const schedules = useObjects('Task', { ...query, phase: 'Scheduled' })
  const chosen = schedules.items.find((task) => place(task) === parameters.get('schedule'))
  const actions = (
    <Offered to={createTask}>
      <Link to="/tasks/new" className="button" data-look="main">
        New schedule
      </Link>
    </Offered>
  )
  return (
    <Page title="Schedules" actions={actions}>
      {schedules.error !== null && <Failure error={schedules.error} retry={schedules.reload} />}
      {schedules.isLoading && <Loading what="schedules" />}
      {!schedules.isLoading && schedules.error === null && schedules.items.length === 0 && (
        <Empty title="There are no schedules yet">
          <p>
            A task with a schedule, such as <code>0 7 * * 1-5</code>, is made again at each of these times.
          </p>
        </Empty>
      )}
      {schedules.items.length > 0 && (
        <Table
          label="Schedules"
          columns={columns}
          items={schedules.items}
          keyOf={({ metadata }) => metadata.uid}
          onOpen={(task) => change({ schedule: place(task) })}
          onEnd={schedules.hasMore ? schedules.loadMore : undefined}
          total={schedules.total}
        />
      )}
      {chosen !== undefined && <Runs key={chosen.metadata.uid} schedule={chosen} />}
    </Page>
  )
}

const columns: Column<TaskRow>[] = [
  {
    title: 'Name',
    width: 'minmax(140px, 2fr)',
    cell: (task) => (
      <Link to={pathOf(task)}>
        <Foreign text={task.metadata.name} />
      </Link>
    ),
  },
  { title: 'When', cell: ({ spec }) => <Foreign className="mono" text={spec?.schedule} />, narrow: 'hidden' },
  {
    title: 'State',
    width: '106px',
    narrow: 'hidden',
    cell: ({ spec }) => <Badge tone={spec?.suspend ? 'warn' : 'good'}>{spec?.suspend ? 'suspended' : 'active'}</Badge>,
  },
  { title: 'Next run', width: '128px', cell: (task) => <NextRun task={task} /> },
  { title: 'Namespace', cell: namespaceOf, narrow: 'hidden' },
  { title: 'Actions', width: '270px', atEnd: true, narrow: 'second', cell: (task) => <Actions task={task} /> },
]

function NextRun({ task: { spec, status } }: { task: TaskRow }) {
  return spec?.suspend ? <span className="soft">none</span> : <Ago at={status?.nextScheduleTime} />
}

function Actions({ task }: { task: TaskRow }) {
  const [, change] = useParameters()
  const run = useChange(runTask)
  const suspend = useSuspend()
  const { name } = task.metadata
  const isSuspended = task.spec?.suspend === true
  const runNow = () =>
    run.mutate(
      { params: { id: name }, query: { namespace: namespaceOf(task) } },
      { onSuccess: (made) => say(`${made.name} is being made`), onError: sayFailure },
    )
  return (
    <>
      <Offered to={runTask}>
        <Button look="plain" busy={run.isPending} onClick={runNow}>
          Run now
        </Button>
        <Button
          look="plain"
          busy={suspend.isPending}
          onClick={() => suspend.mutate({ namespace: namespaceOf(task), name, suspend: !isSuspended })}
        >
          {isSuspended ? 'Resume' : 'Suspend'}
        </Button>
      </Offered>
      <Button look="plain" onClick={() => change({ schedule: place(task) })}>
        Runs
      </Button>
    </>
  )
}

const runColumns: Column<TaskRow>[] = [
  {
    title: 'Run',
    width: 'minmax(160px, 2fr)',
    cell: (task) => (
      <Link to={pathOf(task)}>
        <Foreign text={task.metadata.name} />
      </Link>
    ),
  },
  { title: 'State', width: '112px', cell: ({ status }) => <Badge>{status?.phase ?? 'Pending'}</Badge> },
  { title: 'Message', narrow: 'second', cell: ({ status }) => <Foreign text={status?.message} /> },
  ...timeColumns,
]

function Runs({ schedule }: { schedule: TaskRow }) {
  const filter = { namespace: namespaceOf(schedule), parent: schedule.metadata.name, sort: '-created' } as const
  const runs = useObjects('Task', filter)
  return (
    <section className="stack" aria-labelledby="runs">
      <h2 id="runs">
        Runs of <Foreign text={schedule.metadata.name} />
      </h2>
      {runs.error !== null && <Failure error={runs.error} retry={runs.reload} />}
      {runs.isLoading && <Loading what="runs" />}
      {!runs.isLoading && runs.items.length === 0 ? (
        <Empty title="It has not run yet">
          <p>“Run now” makes a run at once.</p>
        </Empty>
      ) : (
        <Table
          label="Runs"
          columns={runColumns}
          items={runs.items}
          keyOf={({ metadata }) => metadata.uid}
          onEnd={runs.hasMore ? runs.loadMore : undefined}
          total={runs.total}
        />
      )}
    </section>
  )
}
