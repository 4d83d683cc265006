// Execution workspaces that there are: who uses each one, how old it is and what it has cost.
import {
  listWorkspaces,
  releaseWorkspace,
  type WorkspaceItem,
} from '../../../../src/contract/api/workspaces/workspaces.ts'
import { useRecord } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing, wholeList } from '../../parts/listing.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { say } from '../../parts/toasts.tsx'

const states: Record<WorkspaceItem['state'], { tone: Tone; words: string }> = {
  InUse: { tone: 'busy', words: 'In use' },
  Retained: { tone: 'good', words: 'Retained' },
  Suspended: { tone: 'plain', words: 'Suspended' },
  Ending: { tone: 'warn', words: 'Ending' },
}

/** The task that uses it, or the session that it is kept for. */
function Use({ workspace: { namespace, taskName, sessionName } }: { workspace: WorkspaceItem }) {
  if (taskName !== undefined) return <ObjectLink kind="Task" namespace={namespace} name={taskName} />
  if (sessionName === undefined) return null
  return (
    <>
      session <ObjectLink kind="Session" namespace={namespace} name={sessionName} />
    </>
  )
}

const columns: Column<WorkspaceItem>[] = [
  { title: 'Name', width: 'minmax(140px, 1.5fr)', cell: ({ name }) => <Foreign text={name} /> },
  {
    title: 'State',
    width: '104px',
    cell: ({ state }) => <Badge tone={states[state].tone}>{states[state].words}</Badge>,
  },
  { title: 'Used by', cell: (workspace) => <Use workspace={workspace} />, narrow: 'second' },
  { title: 'Template', cell: ({ template }) => <Foreign text={template} />, narrow: 'hidden' },
  { title: 'Namespace', cell: ({ namespace }) => namespace, narrow: 'hidden' },
  {
    title: 'Created',
    measure: ({ createdAt }) => Date.parse(createdAt),
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
  { title: 'Ends', width: '112px', atEnd: true, narrow: 'hidden', cell: ({ expiresAt }) => <Ago at={expiresAt} /> },
  {
    title: 'Cost',
    measure: ({ cost }) => cost,
    width: '84px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ cost }) => (cost === undefined ? '–' : cost.toFixed(2)),
  },
  { title: 'Release', width: '110px', atEnd: true, narrow: 'hidden', cell: (workspace) => <Release {...workspace} /> },
]

export default function WorkspaceListPage() {
  const { namespace } = useScope()
  const workspaces = useRecord('Workspace', listWorkspaces, { query: { namespace } })
  return (
    <Page title="Workspaces">
      <Listing
        label="Workspaces"
        columns={columns}
        list={wholeList(workspaces)}
        keyOf={(workspace) => `${workspace.namespace}/${workspace.name}`}
        fills
        empty={
          <Empty title="There are no execution workspaces">
            <p style={{ maxWidth: 480 }}>
              Agent tasks with <code>execution.workspace.enabled</code> work in one; those that are retained for a
              session stay here until they end.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}

function Release({ namespace, name, state }: WorkspaceItem) {
  if (state === 'InUse' || state === 'Ending') return null
  return (
    <AskedChange
      to={releaseWorkspace}
      input={{ params: { name }, query: { namespace } }}
      sort="Workspace"
      word="Release"
      className="small"
      title={`Release ${name}?`}
      action="Release it"
      onDone={() => say(`${name} is released`)}
    >
      <p>It is deleted with all that is in it. The next task of its session begins in a new one.</p>
    </AskedChange>
  )
}
