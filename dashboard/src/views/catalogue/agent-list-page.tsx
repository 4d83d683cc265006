import { useNavigate } from 'react-router'
import { describeRuntime } from '../../../../src/contract/kinds/agents/runtime-types.ts'
import { useObjects } from '../../data/lists.ts'
import type { SummaryOf } from '../../data/summary.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import type { Column } from '../../parts/table.tsx'
import { ageColumn, nameColumn, namespaceColumn, pathOf, readyColumn } from '../objects/columns.tsx'
import { MakeLink, NothingYet } from '../objects/nothing-yet.tsx'
import { AgentPrograms } from './agent-programs.tsx'

type Row = SummaryOf<'Agent'>

const columns: Column<Row>[] = [
  nameColumn('agents'),
  readyColumn,
  { title: 'Provider', cell: ({ spec }) => <Foreign text={spec?.providerRef?.name} />, narrow: 'hidden' },
  {
    title: 'Model',
    cell: ({ spec }) => <Foreign text={spec?.runtime?.type ? describeRuntime(spec.runtime.type) : spec?.model?.name} />,
    narrow: 'second',
  },
  {
    title: 'At work',
    width: '84px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => status?.activeTasks ?? 0,
  },
  namespaceColumn,
  ageColumn,
]

export default function AgentListPage() {
  const navigate = useNavigate()
  const agents = useObjects('Agent', { ...useScope().query, sort: 'name' })
  return (
    <Page title="Agents" actions={<MakeLink path="agents" />}>
      <Listing
        label="Agents"
        columns={columns}
        list={agents}
        keyOf={({ metadata }) => metadata.uid}
        onOpen={(agent) => void navigate(pathOf('agents', agent))}
        fills
        empty={
          <NothingYet path="agents">
            An agent is a model with a prompt and tools, or a program such as a coding agent. Tasks and chats are given
            to agents.
          </NothingYet>
        }
      />
      <AgentPrograms />
    </Page>
  )
}
