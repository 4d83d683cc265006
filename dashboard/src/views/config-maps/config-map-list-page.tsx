// Config maps: prompts, policies and other texts that objects refer to.
import { Link, useNavigate } from 'react-router'
import {
  type ConfigMapItem,
  createConfigMap,
  listConfigMaps,
} from '../../../../src/contract/api/resources/configmaps.ts'
import { useRecordPages } from '../../data/records.ts'
import { FilterChips } from '../../parts/filter-chips.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { LinkButton } from '../../parts/link-button.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope, useScopedPath } from '../../parts/scope.ts'
import { SearchBox } from '../../parts/search-box.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Offered } from '../../session/offered.tsx'
import { configMapPath } from './config-map-path.ts'

const columns: Column<ConfigMapItem>[] = [
  {
    title: 'Name',
    width: 'minmax(140px, 1.2fr)',
    cell: ({ metadata }) => (
      <Link to={configMapPath(metadata)}>
        <Foreign text={metadata.name} />
      </Link>
    ),
  },
  {
    title: 'Entries',
    width: 'minmax(140px, 2fr)',
    narrow: 'second',
    cell: ({ keys }) => <Foreign text={keys.join(', ')} />,
  },
  { title: 'Namespace', cell: ({ metadata }) => metadata.namespace, narrow: 'hidden' },
  {
    title: 'Created',
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ metadata }) => <Ago at={metadata.creationTimestamp} />,
  },
]

export default function ConfigMapListPage() {
  const navigate = useNavigate()
  const scoped = useScopedPath()
  const [parameters] = useParameters()
  const search = parameters.get('q') ?? undefined
  const list = useRecordPages('ConfigMap', listConfigMaps, { query: { ...useScope().query, search } })
  const make = (
    <Offered to={createConfigMap}>
      <LinkButton isMain to={scoped('/config-maps/new')}>
        New config map
      </LinkButton>
    </Offered>
  )
  return (
    <Page title="Config maps" actions={make}>
      <search className="stack">
        <SearchBox label="Text in the name" placeholder="Name" most={63} />
        <FilterChips names={{ q: 'Name' }} />
      </search>
      <Listing
        label="Config maps"
        columns={columns}
        list={list}
        keyOf={({ metadata }) => `${metadata.namespace}/${metadata.name}`}
        onOpen={({ metadata }) => void navigate(configMapPath(metadata))}
        fills
        empty={
          <Empty title={search === undefined ? 'There are no config maps yet' : 'No config map matches'}>
            <p>They hold prompts, policies and other texts that agents, tasks and scans refer to by name.</p>
          </Empty>
        }
      />
    </Page>
  )
}
