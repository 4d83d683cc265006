// One task: its state in a line, what became of it and how, and what it leaves behind, each on a tab of its own.
import { type FunctionComponent, Suspense } from 'react'
import { useParams } from 'react-router'
import { getTask, type TaskDetail, updateTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { parentOf } from '../../../../src/contract/kinds/tasks/family.ts'
import { useObject } from '../../data/records.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { later } from '../../parts/later.ts'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { type LiveTrace, useTrace } from '../../parts/trace/use-trace.ts'
import { Offered } from '../../session/offered.tsx'
import { isOver, type TaskPlace } from './place.ts'
import { StateLine } from './state-line.tsx'
import { StepsTab } from './steps-tab.tsx'
import { TaskActions } from './task-actions.tsx'
import { type Counts, hasAttempt, hasPlan, useCounts } from './use-counts.ts'

type TabProps = { task: TaskDetail; place: TaskPlace; trace: LiveTrace }

const hasResult = ({ status }: TaskDetail) => status?.resultRef?.available === true
const hasFamily = (task: TaskDetail) => parentOf(task) !== undefined || (task.status?.childTasks ?? []).length > 0

type TaskTab = {
  name: string
  title: string
  isThere?: (task: TaskDetail, counts: Counts) => boolean
  count?: (counts: Counts, task: TaskDetail) => number | undefined
  Part: FunctionComponent<TabProps>
}

const firstTab: TaskTab = { name: '', title: 'Steps', Part: StepsTab }

const tabs: TaskTab[] = [
  firstTab,
  { name: 'log', title: 'Log', isThere: hasAttempt, Part: later(async () => (await import('./log-tab.tsx')).LogTab) },
  {
    name: 'result',
    title: 'Result',
    isThere: hasResult,
    Part: later(async () => (await import('./result-tab.tsx')).ResultTab),
  },
  {
    name: 'diff',
    title: 'Changes',
    isThere: (_, { changes }) => changes !== undefined,
    count: ({ changes }) => changes,
    Part: later(async () => (await import('./changes-tab.tsx')).ChangesTab),
  },
  {
    name: 'files',
    title: 'Files',
    isThere: (_, { files }) => files > 0,
    count: ({ files }) => files,
    Part: later(async () => (await import('./files-tab.tsx')).FilesTab),
  },
  {
    name: 'network',
    title: 'Network',
    isThere: (_, { hosts }) => hosts > 0,
    count: ({ hosts }) => hosts,
    Part: later(async () => (await import('./network-tab.tsx')).NetworkTab),
  },
  {
    name: 'plan',
    title: 'Plan',
    isThere: hasPlan,
    count: ({ plans }) => plans,
    Part: later(async () => (await import('./plan-tab.tsx')).PlanTab),
  },
  {
    name: 'family',
    title: 'Family',
    isThere: hasFamily,
    count: (_, { status }) => status?.childTasks?.length,
    Part: later(async () => (await import('./family-tab.tsx')).FamilyTab),
  },
  {
    name: 'usage',
    title: 'Usage',
    isThere: ({ status }) => status?.usage !== undefined,
    Part: later(async () => (await import('./usage-tab.tsx')).UsageTab),
  },
  {
    name: 'object',
    title: 'YAML',
    Part: later(async () => {
      const { YamlBlock } = await import('../../parts/yaml-block.tsx')
      return ({ task }) => <YamlBlock label="The task as YAML" value={task} />
    }),
  },
]

export default function TaskPage() {
  const { namespace = '', name = '' } = useParams()
  const place = { namespace, name }
  const { data: task, error, isLoading, refetch } = useObject('Task', getTask, place)
  return (
    <Page
      title={name}
      heading={<Foreign text={name} />}
      actions={
        task !== undefined && (
          <Offered to={updateTask}>
            <TaskActions task={task} place={place} />
          </Offered>
        )
      }
    >
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {isLoading && <Loading what="the task" />}
      {task !== undefined && <Parts key={task.metadata.uid} task={task} place={place} />}
    </Page>
  )
}

function Parts({ task, place }: { task: TaskDetail; place: TaskPlace }) {
  const [parameters] = useParameters()
  const counts = useCounts(task, place)
  const wanted = parameters.get('tab') ?? ''
  // One that is asked for by its address says itself that there is nothing.
  const shown = tabs.filter(({ name, isThere }) => name === wanted || isThere === undefined || isThere(task, counts))
  const { name: chosen, Part } = shown.find(({ name }) => name === wanted) ?? firstTab
  const trace = useTrace(place, {
    isLookedAt: chosen === '',
    isOver: isOver(task),
    attempt: task.status?.attempts,
  })
  const titled = shown.map(({ name, title, count }) => ({
    name,
    title,
    count: name === '' ? trace.steps.length : count?.(counts, task),
  }))
  return (
    <>
      <StateLine task={task} steps={trace.steps} />
      <Tabs label="Parts of the task" tabs={titled} />
      <div className="tab">
        <Suspense fallback={<Loading what="this part" />}>
          <Part task={task} place={place} trace={trace} />
        </Suspense>
      </div>
    </>
  )
}
