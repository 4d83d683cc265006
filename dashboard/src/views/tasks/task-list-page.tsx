// All tasks, live; the filters stand in the address.
import { Link, useNavigate } from 'react-router'
import { Page } from '../../app/page.tsx'
import { useParameters, useScope } from '../../app/scope.ts'
import { type ListFilter, useObjects } from '../../data/lists.ts'
import { namespaceOf, type SummaryOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Ago, Span } from '../../parts/time.tsx'
import { TaskFilters } from './task-filters.tsx'

type Row = SummaryOf<'Task'>

export const pathOf = (task: Row) => `/tasks/${namespaceOf(task)}/${task.metadata.name}`

const columns: Column<Row>[] = [
  {
    title: 'Name',
    width: 'minmax(160px, 2fr)',
    cell: (task) => (
      <Link to={pathOf(task)}>
        <Foreign text={task.metadata.name} />
      </Link>
    ),
  },
  { title: 'State', width: '112px', cell: ({ status }) => <Badge>{status?.phase ?? 'Pending'}</Badge> },
  { title: 'Type', width: '84px', cell: ({ spec }) => spec?.type, narrow: 'hidden' },
  { title: 'Agent', cell: ({ spec }) => <Foreign text={spec?.agentRef?.name} />, narrow: 'hidden' },
  {
    title: 'What',
    width: 'minmax(0, 2fr)',
    cell: ({ status }) => <Foreign text={status?.message} />,
    narrow: 'second',
  },
  { title: 'Namespace', cell: (task) => namespaceOf(task), narrow: 'hidden' },
  {
    title: 'Took',
    width: '92px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => <Span from={status?.startTime} to={status?.completionTime} />,
  },
  {
    title: 'Made',
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ metadata }) => <Ago at={metadata.creationTimestamp} />,
  },
]

function useFilter(): ListFilter {
  const [parameters] = useParameters()
  const read = (name: string) => parameters.get(name) ?? undefined
  return {
    ...useScope().query,
    sort: '-created',
    phase: read('phase'),
    type: read('type'),
    agent: read('agent'),
  } as ListFilter
}

export default function TaskListPage() {
  const navigate = useNavigate()
  const tasks = useObjects('Task', useFilter())
  return (
    <Page title="Tasks" actions={<TaskFilters />}>
      {tasks.error !== null && <Failure error={tasks.error} retry={tasks.reload} />}
      {tasks.isLoading ? (
        <Loading what="tasks" />
      ) : tasks.items.length === 0 && tasks.error === null ? (
        <NoTasks />
      ) : (
        <Table
          label="Tasks"
          columns={columns}
          items={tasks.items}
          keyOf={({ metadata }) => metadata.uid}
          onOpen={(task) => void navigate(pathOf(task))}
          onEnd={tasks.hasMore ? tasks.loadMore : undefined}
          total={tasks.total}
          fills
        />
      )}
    </Page>
  )
}

function NoTasks() {
  const [parameters] = useParameters()
  const isFiltered = ['phase', 'type', 'agent'].some((name) => parameters.has(name))
  return isFiltered ? (
    <Empty title="No task matches">
      <p>Take one of the filters away.</p>
    </Empty>
  ) : (
    <Empty title="There are no tasks yet">
      <p>
        Type <code>svc run "say hello"</code>, or ask for one in the chat.
      </p>
    </Empty>
  )
}
