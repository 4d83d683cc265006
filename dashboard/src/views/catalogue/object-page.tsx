// One agent, provider, tool or skill: what it is, how it is, what uses it, and the form that changes it.
import { lazy, Suspense } from 'react'
import { useLocation, useParams } from 'react-router'
import { type ConditionItem, Conditions } from '../../parts/conditions.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters } from '../../parts/scope.ts'
import { Failure, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useMay } from '../../session/caller.ts'
import { EditTab } from '../objects/edit-tab.tsx'
import { DeleteButton } from '../objects/object-actions.tsx'
import { kindOfAddress, type ObjectKind, routesOf, type StoredObject } from '../objects/object-kinds.ts'
import { useStoredObject } from '../objects/use-stored-object.ts'
import { AgentActions } from './agent-actions.tsx'
import { AgentRuns, AgentTasks } from './agent-runs.tsx'
import { summaries } from './summaries.tsx'
import { UsedBy } from './used-by.tsx'

/** What compares texts is fetched when it is looked at. */
const AgentVersions = lazy(() => import('./agent-versions.tsx'))

function listTabs(of: ObjectKind, mayChange: boolean) {
  return [
    { name: '', title: 'Summary' },
    ...(of.path === 'agents' ? [{ name: 'versions', title: 'Versions' }] : []),
    ...(mayChange ? [{ name: 'edit', title: 'Change' }] : []),
  ]
}

export default function ObjectPage() {
  const { namespace = '', name = '' } = useParams()
  const of = kindOfAddress(useLocation().pathname)
  const object = useStoredObject(of, { namespace, name })
  const mayChange = useMay(routesOf(of.path).update)
  const [parameters] = useParameters()
  return (
    <Page
      title={name}
      heading={<Foreign text={name} />}
      actions={object.data !== undefined && <Actions of={of} object={object.data} />}
    >
      {object.error !== null && <Failure error={object.error} retry={() => void object.refetch()} />}
      {object.isLoading && <Loading what={`the ${of.noun}`} />}
      {object.data !== undefined && (
        <>
          <Tabs label={`Parts of the ${of.noun}`} tabs={listTabs(of, mayChange)} />
          <Shown tab={parameters.get('tab')} of={of} object={object.data} />
        </>
      )}
    </Page>
  )
}

function Shown({ tab, of, object }: { tab: string | null; of: ObjectKind; object: StoredObject }) {
  if (tab === 'edit') return <EditTab of={of} object={object} />
  if (tab !== 'versions' || of.path !== 'agents') return <Summary of={of} object={object} />
  return (
    <Suspense fallback={<Loading what="the versions" />}>
      <AgentVersions place={object.metadata} />
    </Suspense>
  )
}

function Actions({ of, object: { metadata, spec } }: { of: ObjectKind; object: StoredObject }) {
  return (
    <>
      {of.path === 'agents' && <AgentActions place={metadata} hasProgram={spec.runtime !== undefined} />}
      <DeleteButton of={of} place={metadata} />
    </>
  )
}

function Summary({ of, object }: { of: ObjectKind; object: StoredObject }) {
  const Own = summaries[of.path]
  return (
    <div className="grid">
      {Own !== undefined && <Own object={object as never} />}
      <section className="card" aria-labelledby="conditions">
        <h2 id="conditions">Status</h2>
        <Conditions of={object.status?.conditions as ConditionItem[] | undefined} />
      </section>
      {of.path === 'agents' && <AgentRuns place={object.metadata} />}
      {of.path === 'agents' && <AgentTasks place={object.metadata} />}
      <UsedBy path={of.path} place={object.metadata} />
    </div>
  )
}
