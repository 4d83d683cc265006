// One task: what it is and does, and what it leaves behind, each on a tab of its own.
import type { ReactNode } from 'react'
import { useParams } from 'react-router'
import { getTask, type TaskDetail, updateTask } from '../../../../src/contract/api/tasks/tasks.ts'
import { terminalPhases } from '../../../../src/contract/kinds/tasks/task.ts'
import { useObject } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { YamlBlock } from '../../parts/yaml-block.tsx'
import { Offered } from '../../session/offered.tsx'
import { FamilyTab } from './family-tab.tsx'
import { FilesTab } from './files-tab.tsx'
import { LogTab } from './log-tab.tsx'
import type { TaskPlace } from './place.ts'
import { hasPlan, PlanTab } from './plan-tab.tsx'
import { ChangesTab, ResultTab } from './result-tabs.tsx'
import { SummaryTab } from './summary-tab.tsx'
import { TaskActions } from './task-actions.tsx'
import { TimelineTab } from './timeline-tab.tsx'
import { UsageTab } from './usage-tab.tsx'

type TabProps = { task: TaskDetail; place: TaskPlace }

const isOver = ({ status }: TaskDetail) => terminalPhases.some((phase) => phase === status?.phase)
const worksInRepository = ({ spec }: TaskDetail) =>
  spec.workspace !== undefined || spec.agentRuntime?.workspace !== undefined

type TaskTab = {
  name: string
  title: string
  isThere?: (task: TaskDetail) => boolean
  draw: (props: TabProps) => ReactNode
}

const tabs: TaskTab[] = [
  { name: '', title: 'Summary', draw: ({ task }) => <SummaryTab task={task} /> },
  { name: 'timeline', title: 'Timeline', draw: ({ place }) => <TimelineTab place={place} /> },
  { name: 'log', title: 'Log', draw: ({ task, place }) => <LogTab place={place} isOver={isOver(task)} /> },
  { name: 'result', title: 'Result', draw: (props) => <ResultTab {...props} /> },
  { name: 'diff', title: 'Changes', isThere: worksInRepository, draw: (props) => <ChangesTab {...props} /> },
  { name: 'files', title: 'Files', draw: ({ place }) => <FilesTab place={place} /> },
  { name: 'plan', title: 'Plan', isThere: hasPlan, draw: ({ place }) => <PlanTab place={place} /> },
  { name: 'family', title: 'Family', draw: ({ task }) => <FamilyTab task={task} /> },
  { name: 'usage', title: 'Usage', draw: (props) => <UsageTab {...props} /> },
  { name: 'object', title: 'YAML', draw: ({ task }) => <YamlBlock label="The task as YAML" value={task} /> },
]

export default function TaskPage() {
  const { namespace = '', name = '' } = useParams()
  const place = { namespace, name }
  const [parameters] = useParameters()
  const { data: task, error, isLoading, refetch } = useObject('Task', getTask, place)
  const heading = (
    <span className="row">
      <Foreign text={name} /> {task !== undefined && <Badge>{task.status?.phase ?? 'Pending'}</Badge>}
    </span>
  )
  const shown = tabs.filter(({ isThere }) => isThere === undefined || (task !== undefined && isThere(task)))
  const tab = shown.find((one) => one.name === (parameters.get('tab') ?? '')) ?? tabs[0]
  return (
    <Page
      title={name}
      heading={heading}
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
      {task !== undefined && (
        <>
          <Tabs label="Parts of the task" tabs={shown} />
          <div key={task.metadata.uid} className="tab">
            {tab?.draw({ task, place })}
          </div>
        </>
      )}
    </Page>
  )
}
