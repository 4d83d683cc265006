import { useNavigate } from 'react-router'
import { describeVendor } from '../../../../src/contract/kinds/providers/vendor-names.ts'
import { useObjects } from '../../data/lists.ts'
import type { SummaryOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import type { Column } from '../../parts/table.tsx'
import { ageColumn, nameColumn, namespaceColumn, pathOf, readyColumn } from '../objects/columns.tsx'
import { MakeLink, NothingYet } from '../objects/nothing-yet.tsx'

const columns: Column<SummaryOf<'Provider'>>[] = [
  nameColumn('providers'),
  readyColumn,
  { title: 'Default', width: '90px', cell: ({ spec }) => spec?.default && <Badge>Default</Badge> },
  { title: 'Type', width: '170px', cell: ({ spec }) => spec?.type && describeVendor(spec.type), narrow: 'hidden' },
  { title: 'Model', cell: ({ spec }) => <Foreign text={spec?.defaultModel} />, narrow: 'hidden' },
  {
    title: 'Message',
    width: 'minmax(0, 2fr)',
    cell: ({ status }) => <Foreign text={status?.lastError ?? status?.message} />,
    narrow: 'second',
  },
  namespaceColumn,
  ageColumn,
]

export default function ProviderListPage() {
  const navigate = useNavigate()
  const providers = useObjects('Provider', { ...useScope().query, sort: 'name' })
  return (
    <Page title="Providers" actions={<MakeLink path="providers" />}>
      <Listing
        label="Providers"
        columns={columns}
        list={providers}
        keyOf={({ metadata }) => metadata.uid}
        onOpen={(provider) => void navigate(pathOf('providers', provider))}
        fills
        empty={
          <NothingYet path="providers">
            A provider is where models are called: a vendor or a server of your own, with its key, limits and prices.
          </NothingYet>
        }
      />
    </Page>
  )
}
