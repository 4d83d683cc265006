// One monitor: its pull requests and why some are not reviewed, its reviews, runs and events, and its settings.
import { useParams } from 'react-router'
import { Badge } from '../../parts/badge.tsx'
import { type ConditionItem, Conditions } from '../../parts/conditions.tsx'
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
import { EventsTab } from './events-tab.tsx'
import { ItemsTab } from './items-tab.tsx'
import { RunButton, SuspendButton } from './monitor-actions.tsx'
import { Reviews } from './reviews-tab.tsx'
import { RunsTab } from './runs-tab.tsx'

const tabs = [
  { name: '', title: 'Pull requests' },
  { name: 'reviews', title: 'Reviews' },
  { name: 'runs', title: 'Runs' },
  { name: 'events', title: 'Events' },
  { name: 'edit', title: 'Change' },
]
const of = objectKind('monitors')

export default function MonitorPage() {
  const { namespace = '', name = '' } = useParams()
  const place = { namespace, name }
  const monitor = useStoredObject(of, place)
  const mayChange = useMay(routesOf(of.path).update)
  const heading = (
    <span className="row">
      <Foreign text={name} /> {monitor.data && <Badge>{String(monitor.data.status?.phase ?? 'Pending')}</Badge>}
    </span>
  )
  const actions = monitor.data && (
    <>
      <RunButton {...place} />
      <SuspendButton monitor={monitor.data} />
      <DeleteButton of={of} place={place} />
    </>
  )
  return (
    <Page title={name} heading={heading} actions={actions}>
      {monitor.error !== null && <Failure error={monitor.error} retry={() => void monitor.refetch()} />}
      {monitor.isLoading && <Loading what="the monitor" />}
      {monitor.data && <Standing monitor={monitor.data} />}
      {monitor.data && (
        <Tabs label="Parts of the monitor" tabs={mayChange ? tabs : tabs.filter(({ name: one }) => one !== 'edit')} />
      )}
      {monitor.data && <Tab monitor={monitor.data} />}
    </Page>
  )
}

/** What keeps the monitor from working, if something does. */
function Standing({ monitor: { status } }: { monitor: StoredObject }) {
  const conditions = (status?.conditions ?? []) as ConditionItem[]
  const wrong = conditions.filter(({ status: holds }) => holds !== 'True')
  return wrong.length === 0 ? null : (
    <div className="notice">
      <Conditions of={wrong} />
    </div>
  )
}

function Tab({ monitor }: { monitor: StoredObject }) {
  const [parameters] = useParameters()
  const { metadata } = monitor
  const place = { namespace: metadata.namespace, name: metadata.name }
  const name = parameters.get('tab')
  if (name === 'reviews') return <Reviews {...place} />
  if (name === 'runs') return <RunsTab {...place} />
  if (name === 'events') return <EventsTab {...place} />
  if (name === 'edit') return <EditTab of={of} object={monitor} />
  return <ItemsTab monitor={monitor} />
}
