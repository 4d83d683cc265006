// One config map with its texts, which are read and changed here; and a new one.
import { useState } from 'react'
import { useNavigate, useParams } from 'react-router'
import {
  type ConfigMapObject,
  deleteConfigMap,
  getConfigMap,
  updateConfigMap,
} from '../../../../src/contract/api/resources/configmaps.ts'
import { queryClient } from '../../data/api.ts'
import { useRecord } from '../../data/records.ts'
import { AskedChange } from '../../parts/asked-button.tsx'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Page } from '../../parts/page.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { say } from '../../parts/toasts.tsx'
import { visible } from '../../parts/visible-text.ts'
import { Offered } from '../../session/offered.tsx'
import { ConfigMapForm } from './config-map-form.tsx'

export default function ConfigMapPage() {
  const { namespace = '', name = '' } = useParams()
  const [isChanging, setChanging] = useState(false)
  const { data, error, isLoading, refetch } = useRecord('ConfigMap', getConfigMap, {
    params: { name },
    query: { namespace },
  })
  const actions = data !== undefined && !isChanging && (
    <>
      <Offered to={updateConfigMap}>
        <Button onClick={() => setChanging(true)}>Change</Button>
      </Offered>
      <DeleteButton namespace={namespace} name={name} />
    </>
  )
  return (
    <Page title={name} heading={<Foreign text={name} />} actions={actions}>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {isLoading && <Loading what="the config map" />}
      {data !== undefined && !isChanging && <Shown of={data} />}
      {data !== undefined && isChanging && (
        <ConfigMapForm
          namespace={namespace}
          before={data}
          onSaved={() => setChanging(false)}
          onClose={() => setChanging(false)}
        />
      )}
    </Page>
  )
}

function Shown({ of: { metadata, data } }: { of: ConfigMapObject }) {
  const labels = Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`)
  const entries = Object.entries(data)
  return (
    <>
      <Facts
        of={[
          ['Namespace', metadata.namespace],
          ['Labels', labels.length > 0 && <Foreign text={labels.join(', ')} />],
          ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
        ]}
      />
      {entries.length === 0 && <Empty title="It has no entries" />}
      {entries.map(([key, text]) => (
        <section key={key} className="stack">
          <h2>
            <Foreign className="mono" text={key} />
          </h2>
          {text === '' ? (
            <p className="soft">It is empty.</p>
          ) : (
            <ForeignBlock label={`Text of ${visible(key)}`} text={text} />
          )}
        </section>
      ))}
    </>
  )
}

function DeleteButton({ namespace, name }: { namespace: string; name: string }) {
  const navigate = useNavigate()
  function onDone(): void {
    say(`The config map ${name} is deleted`)
    // The list is read again when it is shown; what is gone is not.
    void queryClient.invalidateQueries({ queryKey: ['records', 'ConfigMap'], refetchType: 'none' })
    void navigate('/config-maps')
  }
  return (
    <AskedChange
      to={deleteConfigMap}
      input={{ params: { name }, query: { namespace } }}
      word="Delete"
      look="danger"
      title={`Delete ${name}?`}
      action="Delete the config map"
      onDone={onDone}
    >
      <p>Its texts cannot be brought back. What refers to it says that it is missing.</p>
    </AskedChange>
  )
}
