// All tasks, live; the filters stand in the address.
import { useCallback, useMemo, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { createTask, deleteTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { type ListFilter, useObjects } from '../../data/lists.ts'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope, useScopedPath } from '../../parts/scope.ts'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { boxColumn, pathOf, type TaskRow, taskColumns } from '../../parts/task-columns.tsx'
import { useMay } from '../../session/caller.ts'
import { Offered } from '../../session/offered.tsx'
import { ChosenTasks } from './chosen-tasks.tsx'
import { filterNames, TaskFilters } from './task-filters.tsx'

function useFilter(): ListFilter {
  const [parameters] = useParameters()
  const read = (name: string) => parameters.get(name) ?? undefined
  return {
    ...useScope().query,
    sort: '-created',
    phase: read('phase'),
    type: read('type'),
    agent: read('agent'),
    labelSelector: read('label'),
    search: read('q'),
  } as ListFilter
}

/** The chosen rows; those that are gone are chosen no longer. */
function useChosen(items: readonly TaskRow[]) {
  const [uids, setUids] = useState<ReadonlySet<string>>(new Set())
  const chosen = uids.size === 0 ? [] : items.filter(({ metadata }) => uids.has(metadata.uid))
  const toggle = useCallback(
    ({ metadata: { uid } }: TaskRow) =>
      setUids((before) =>
        before.has(uid) ? new Set([...before].filter((one) => one !== uid)) : new Set([...before, uid]),
      ),
    [],
  )
  return {
    uids,
    chosen,
    toggle,
    all: () => setUids(new Set(items.map(({ metadata }) => metadata.uid))),
    none: () => setUids(new Set()),
  }
}

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
  const mayChange = useMay(deleteTask)
  const tasks = useObjects('Task', useFilter())
  const { uids, chosen, toggle, all, none } = useChosen(tasks.items)
  const columns = useMemo(
    () => (mayChange ? [boxColumn(uids, toggle), ...taskColumns] : taskColumns),
    [mayChange, uids, toggle],
  )
  if (tasks.error !== null) return <Failure error={tasks.error} retry={tasks.reload} />
  if (tasks.isLoading) return <Loading what="tasks" />
  if (tasks.items.length === 0) return <NoTasks />
  return (
    <>
      {chosen.length > 0 && <ChosenTasks tasks={chosen} onChooseAll={all} onDone={none} />}
      <Table
        label="Tasks"
        columns={columns}
        items={tasks.items}
        keyOf={({ metadata }) => metadata.uid}
        onOpen={(task) => void navigate(pathOf(task))}
        {...(mayChange && { onToggle: toggle })}
        onEnd={tasks.hasMore ? tasks.loadMore : undefined}
        total={tasks.total}
        fills
      />
      <p className="soft keys">
        <kbd>↑</kbd> <kbd>↓</kbd> or <kbd>j</kbd> <kbd>k</kbd> choose a row, <kbd>Enter</kbd> opens it
        {mayChange && (
          <>
            , <kbd>Space</kbd> marks it
          </>
        )}
      </p>
    </>
  )
}

function NoTasks() {
  const [parameters] = useParameters()
  const isFiltered = filterNames.some((name) => parameters.has(name))
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
