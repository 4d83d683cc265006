// One task: its state in a line, what became of it and how, and what it leaves behind, each on a tab of its own.
import type { ReactNode } from 'react'
import { useParams } from 'react-router'
import {
  getTask,
  listTaskArtifacts,
  listTaskInputs,
  listTaskPlans,
  type TaskDetail,
  updateTask,
} from '../../../../src/contract/api/tasks/tasks.ts'
import { parentOf } from '../../../../src/contract/kinds/tasks/family.ts'
import { useObject, useObjectRecord } from '../../data/records.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { type LiveTrace, useTrace } from '../../parts/trace/use-trace.ts'
import { YamlBlock } from '../../parts/yaml-block.tsx'
import { Offered } from '../../session/offered.tsx'
import { FamilyTab } from './family-tab.tsx'
import { FilesTab } from './files-tab.tsx'
import { LogTab } from './log-tab.tsx'
import { NetworkTab, useHostCount } from './network-tab.tsx'
import { isOver, type TaskPlace } from './place.ts'
import { hasPlan, PlanTab } from './plan-tab.tsx'
import { countChanges, readResult } from './result.ts'
import { ChangesTab, ResultTab, useResult } from './result-tabs.tsx'
import { StateLine } from './state-line.tsx'
import { StepsTab } from './steps-tab.tsx'
import { TaskActions } from './task-actions.tsx'
import { UsageTab } from './usage-tab.tsx'

type Counts = { files: number; changes: number | undefined; plans: number; hosts: number }
type TabProps = { task: TaskDetail; place: TaskPlace; trace: LiveTrace }

const hasStarted = ({ status }: TaskDetail) => (status?.attempts ?? 0) > 0
const hasResult = ({ status }: TaskDetail) => status?.resultRef?.available === true
const hasFamily = (task: TaskDetail) => parentOf(task) !== undefined || (task.status?.childTasks ?? []).length > 0

type TaskTab = {
  name: string
  title: string
  isThere?: (task: TaskDetail, counts: Counts) => boolean
  count?: (counts: Counts, task: TaskDetail) => number | undefined
  draw: (props: TabProps) => ReactNode
}

const tabs: TaskTab[] = [
  { name: '', title: 'Steps', draw: (props) => <StepsTab {...props} /> },
  {
    name: 'log',
    title: 'Log',
    isThere: hasStarted,
    draw: ({ task, place }) => <LogTab place={place} isOver={isOver(task)} />,
  },
  { name: 'result', title: 'Result', isThere: hasResult, draw: (props) => <ResultTab {...props} /> },
  {
    name: 'diff',
    title: 'Changes',
    isThere: (_, { changes }) => changes !== undefined,
    count: ({ changes }) => changes,
    draw: (props) => <ChangesTab {...props} />,
  },
  {
    name: 'files',
    title: 'Files',
    isThere: (_, { files }) => files > 0,
    count: ({ files }) => files,
    draw: ({ place }) => <FilesTab place={place} />,
  },
  {
    name: 'network',
    title: 'Network',
    isThere: (_, { hosts }) => hosts > 0,
    count: ({ hosts }) => hosts,
    draw: ({ place }) => <NetworkTab place={place} />,
  },
  {
    name: 'plan',
    title: 'Plan',
    isThere: hasPlan,
    count: ({ plans }) => plans,
    draw: ({ place }) => <PlanTab place={place} />,
  },
  {
    name: 'family',
    title: 'Family',
    isThere: hasFamily,
    count: (_, { status }) => status?.childTasks?.length,
    draw: ({ task }) => <FamilyTab task={task} />,
  },
  {
    name: 'usage',
    title: 'Usage',
    isThere: ({ status }) => status?.usage !== undefined,
    draw: (props) => <UsageTab {...props} />,
  },
  { name: 'object', title: 'YAML', draw: ({ task }) => <YamlBlock label="The task as YAML" value={task} /> },
]

/** What the task has of each, as far as it was read. */
function useCounts(task: TaskDetail, place: TaskPlace): Counts {
  const files = useObjectRecord('Task', listTaskArtifacts, place, { isEnabled: hasStarted(task) })
  const plans = useObjectRecord('Task', listTaskPlans, place, { query: { limit: 200 }, isEnabled: hasPlan(task) })
  const inputs = useObjectRecord('Task', listTaskInputs, place, { isEnabled: task.spec.type !== 'container' })
  const hosts = useHostCount({ task, place })
  const { text } = useResult({ task, place })
  return {
    files: (files.data?.items.length ?? 0) + (inputs.data?.items.length ?? 0),
    plans: plans.data?.items.length ?? 0,
    hosts,
    changes: text === undefined ? undefined : countChanges(readResult(text)),
  }
}

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
  const tab = shown.find(({ name }) => name === wanted) ?? tabs[0]
  const trace = useTrace(place, {
    isLookedAt: tab?.name === '',
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
      <div className="tab">{tab?.draw({ task, place, trace })}</div>
    </>
  )
}
