import { useNavigate } from 'react-router'
import { useObjects } from '../../data/lists.ts'
import type { SummaryOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { nameColumn, namespaceColumn, pathOf } from '../objects/columns.tsx'
import { MakeLink, NothingYet } from '../objects/nothing-yet.tsx'

const columns: Column<SummaryOf<'RepositoryScan'>>[] = [
  nameColumn('scans'),
  { title: 'State', width: '112px', cell: ({ status }) => <Badge>{status?.phase ?? 'Pending'}</Badge> },
  {
    title: 'Repository',
    width: 'minmax(0, 3fr)',
    cell: ({ spec }) => <Foreign text={spec?.repoURL} />,
    narrow: 'second',
  },
  {
    title: 'Findings',
    width: '90px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => status?.findingCounts?.total ?? '–',
  },
  namespaceColumn,
  {
    title: 'Last run',
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ status }) => <Ago at={status?.lastScanAt} />,
  },
]

export default function ScanListPage() {
  const navigate = useNavigate()
  const scans = useObjects('RepositoryScan', { ...useScope().query, sort: 'name' })
  return (
    <Page title="Scans" actions={<MakeLink path="scans" />}>
      <Listing
        label="Scans"
        columns={columns}
        list={scans}
        keyOf={({ metadata }) => metadata.uid}
        onOpen={(scan) => void navigate(pathOf('scans', scan))}
        fills
        empty={
          <NothingYet path="scans">
            A scan has an agent review a repository for weaknesses, part by part, and keeps what it finds until it is
            dealt with.
          </NothingYet>
        }
      />
    </Page>
  )
}
