// All tasks, live; the filters stand in the address.
import { useCallback, useMemo } from 'react'
import { Link, useNavigate } from 'react-router'
import { listOrders } from '../../../../src/contract/api/resources/list.ts'
import { createTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { type ListFilter, useObjects } from '../../data/lists.ts'
import { namespaceOf } from '../../data/summary.ts'
import { count } from '../../parts/count.ts'
import { useMeasuredList } from '../../parts/measured-list.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope, useScopedPath } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { boxColumn, pathOf, type TaskRow, taskColumns } from '../../parts/task-columns.tsx'
import { useMarked } from '../../parts/use-marked.ts'
import { Offered } from '../../session/offered.tsx'
import { ChosenTasks } from './chosen-tasks.tsx'
import { filterNames, TaskFilters } from './task-filters.tsx'

/** The newest first, where the address says nothing else. */
const orderOf = (text: string | null) => listOrders.find((order) => order === text) ?? '-created'

function useFilter(): ListFilter {
  const [parameters] = useParameters()
  const read = (name: string) => parameters.get(name) ?? undefined
  return {
    ...useScope().query,
    // What the service cannot sort by, the page sorts among the newest.
    sort: orderOf(parameters.get('sort')),
    phase: read('phase'),
    type: read('type'),
    agent: read('agent'),
    labelSelector: read('label'),
    search: read('q'),
  } as ListFilter
}

/** Each is kept true by itself. */
const sortedAtOnce = 5000

const idOf = ({ metadata }: TaskRow) => metadata.uid

export default function TaskListPage() {
  const scoped = useScopedPath()
  const actions = (
    <Offered to={createTask}>
      <Link to={scoped('/tasks/new')} className="button" data-look="main">
        New task
      </Link>
    </Offered>
  )
  return (
    <Page title="Tasks" actions={actions}>
      <TaskFilters />
      <TaskList />
    </Page>
  )
}

function TaskList() {
  const navigate = useNavigate()
  const [parameters, change] = useParameters()
  const tasks = useObjects('Task', useFilter())
  const sort = parameters.get('sort')
  const { note, ...shown } = useMeasuredList(tasks, taskColumns, sort, sortedAtOnce)
  const { ids, marked, toggleId, all, none } = useMarked(tasks.items, idOf)
  const toggle = useCallback((task: TaskRow) => toggleId(idOf(task)), [toggleId])
  const isOfMany = new Set(tasks.items.map(namespaceOf)).size > 1
  const columns = useMemo(() => {
    const own = taskColumns.filter(({ title }) => isOfMany || title !== 'Namespace')
    return [boxColumn(ids, toggle), ...own]
  }, [ids, toggle, isOfMany])
  if (tasks.error !== null) return <Failure error={tasks.error} retry={tasks.reload} />
  if (tasks.isLoading) return <Loading what="tasks" />
  if (tasks.items.length === 0) return <NoTasks />
  return (
    <>
      <ChosenTasks tasks={marked} onChooseAll={all} onDone={none} />
      {note}
      <Table
        label="Tasks"
        columns={columns}
        {...shown}
        keyOf={idOf}
        onOpen={(task) => void navigate(pathOf(task))}
        onToggle={toggle}
        order={sort ?? '-created'}
        onOrder={(order) => change({ sort: order === '-created' ? '' : order })}
        fills
      />
      <p className="soft keys">
        {tasks.total !== undefined && `${count(tasks.total, 'task')} · `}
        <kbd>↑</kbd> <kbd>↓</kbd> or <kbd>j</kbd> <kbd>k</kbd> choose a row, <kbd>Enter</kbd> opens it, <kbd>Space</kbd>{' '}
        marks it
      </p>
    </>
  )
}

function NoTasks() {
  const [parameters] = useParameters()
  const isFiltered = Object.keys(filterNames).some((name) => parameters.has(name))
  return isFiltered ? (
    <Empty title="No task matches">
      <p>Take one of the filters away.</p>
    </Empty>
  ) : (
    <Empty title="There are no tasks yet">
      <p>
        Create one here, type <code>svc run "say hello"</code>, or ask for one in the chat.
      </p>
    </Empty>
  )
}
