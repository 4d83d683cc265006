// One scan: the queue of its findings, its runs and imports, and its settings.
import { useParams } from 'react-router'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useMay } from '../../session/caller.ts'
import { EditTab } from '../objects/edit-tab.tsx'
import { DeleteButton } from '../objects/object-actions.tsx'
import { objectKind, routesOf, type StoredObject } from '../objects/object-kinds.ts'
import { useStoredObject } from '../objects/use-stored-object.ts'
import { DroppedTab } from './dropped-tab.tsx'
import { FindingsTab } from './findings-tab.tsx'
import { ImportsTab } from './imports-tab.tsx'
import { RunsTab } from './runs-tab.tsx'
import { ExportButton, RunButton } from './scan-actions.tsx'
import { SlicesTab } from './slices-tab.tsx'
import { ThreatModelTab } from './threat-model-tab.tsx'

const tabs = [
  { name: '', title: 'Findings' },
  { name: 'runs', title: 'Runs' },
  { name: 'parts', title: 'Parts' },
  { name: 'dropped', title: 'Dropped' },
  { name: 'threat-model', title: 'Threat model' },
  { name: 'imports', title: 'Imports' },
  { name: 'edit', title: 'Change' },
]
const of = objectKind('scans')

export default function ScanPage() {
  const { namespace = '', name = '' } = useParams()
  const place = { namespace, name }
  const scan = useStoredObject(of, place)
  const mayChange = useMay(routesOf(of.path).update)
  const heading = (
    <span className="row">
      <Foreign text={name} /> {scan.data && <Badge>{String(scan.data.status?.phase ?? 'Pending')}</Badge>}
    </span>
  )
  const actions = scan.data && (
    <>
      <RunButton {...place} />
      <ExportButton {...place} />
      <DeleteButton of={of} place={place} />
    </>
  )
  return (
    <Page title={name} heading={heading} actions={actions}>
      {scan.error !== null && <Failure error={scan.error} retry={() => void scan.refetch()} />}
      {scan.isLoading && <Loading what="the scan" />}
      {scan.data && (
        <Tabs label="Parts of the scan" tabs={mayChange ? tabs : tabs.filter(({ name: one }) => one !== 'edit')} />
      )}
      {scan.data && <Tab scan={scan.data} />}
    </Page>
  )
}

function Tab({ scan }: { scan: StoredObject }) {
  const [parameters] = useParameters()
  const { metadata } = scan
  const place = { namespace: metadata.namespace, name: metadata.name }
  const name = parameters.get('tab')
  if (name === 'runs') return <RunsTab {...place} />
  if (name === 'parts') return <SlicesTab {...place} />
  if (name === 'dropped') return <DroppedTab {...place} />
  if (name === 'threat-model') return <ThreatModelTab {...place} />
  if (name === 'imports') return <ImportsTab {...place} />
  if (name === 'edit') return <EditTab of={of} object={scan} />
  return <FindingsTab scan={scan} />
}
