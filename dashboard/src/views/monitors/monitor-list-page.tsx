import { useNavigate } from 'react-router'
import { useObjects } from '../../data/lists.ts'
import type { SummaryOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope, useScopedPath } from '../../parts/scope.ts'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { nameColumn, namespaceColumn, pathOf } from '../objects/columns.tsx'
import { MakeLink, NothingYet } from '../objects/nothing-yet.tsx'

const columns: Column<SummaryOf<'RepositoryMonitor'>>[] = [
  nameColumn('monitors'),
  { title: 'State', width: '112px', cell: ({ status }) => <Badge>{status?.phase ?? 'Pending'}</Badge> },
  {
    title: 'Repository',
    width: 'minmax(0, 3fr)',
    cell: ({ spec }) => <Foreign text={spec?.repoURL} />,
    narrow: 'second',
  },
  {
    title: 'Open',
    width: '70px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => status?.openPullRequests ?? '–',
  },
  namespaceColumn,
  {
    title: 'Last run',
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => <Ago at={status?.lastRunTime} />,
  },
]

export default function MonitorListPage() {
  const navigate = useNavigate()
  const scoped = useScopedPath()
  const monitors = useObjects('RepositoryMonitor', { ...useScope().query, sort: 'name' })
  const actions = (
    <>
      <LinkButton to={scoped('/deliveries')}>Deliveries of webhooks</LinkButton>
      <MakeLink path="monitors" />
    </>
  )
  return (
    <Page title="Monitors" actions={actions}>
      <Listing
        label="Monitors"
        columns={columns}
        list={monitors}
        keyOf={({ metadata }) => metadata.uid}
        onOpen={(monitor) => void navigate(pathOf('monitors', monitor))}
        fills
        empty={
          <NothingYet path="monitors">
            A monitor has an agent review the pull requests of a repository as they come, and says why one was not
            reviewed.
          </NothingYet>
        }
      />
    </Page>
  )
}
