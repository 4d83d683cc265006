// Names of secrets and of their entries. Values are written, never read.
import { useState } from 'react'
import { createSecret, listSecrets, type SecretItem } from '../../../../src/contract/api/resources/secrets.ts'
import { useRecordPages } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useScope } from '../../parts/scope.ts'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { Offered } from '../../session/offered.tsx'
import { DeleteSecret } from './delete-secret.tsx'
import { NewSecret } from './new-secret.tsx'
import { SecretValues } from './secret-values.tsx'
import './secrets.css'

const keyOf = ({ namespace, name }: SecretItem) => `${namespace}/${name}`

function columnsFor(change: (secret: SecretItem) => void): Column<SecretItem>[] {
  return [
    { title: 'Name', width: 'minmax(120px, 1.2fr)', cell: ({ name }) => <Foreign text={name} /> },
    {
      title: 'Entries',
      width: 'minmax(120px, 2fr)',
      narrow: 'second',
      cell: ({ keys }) => <Foreign text={keys.join(', ')} />,
    },
    { title: 'Namespace', cell: ({ namespace }) => namespace, narrow: 'hidden' },
    {
      title: 'Sent to',
      cell: ({ allowedHosts }) => <Foreign text={allowedHosts?.join(', ') ?? 'all hosts'} />,
      narrow: 'hidden',
    },
    { title: 'Created', width: '110px', cell: ({ createdAt }) => <Ago at={createdAt} />, narrow: 'hidden' },
    {
      title: 'Change',
      width: '180px',
      atEnd: true,
      cell: (secret) => (
        <span className="row-end">
          <Button className="small" aria-label={`Change values of ${secret.name}`} onClick={() => change(secret)}>
            Values…
          </Button>
          <DeleteSecret secret={secret} />
        </span>
      ),
    },
  ]
}

export default function SecretListPage() {
  const { query, home } = useScope()
  const [isMaking, setMaking] = useState(false)
  const [changed, setChanged] = useState<SecretItem>()
  const secrets = useRecordPages('Secret', listSecrets, { query })
  const make = (
    <Offered to={createSecret}>
      <Button look="main" onClick={() => setMaking(true)}>
        New secret
      </Button>
    </Offered>
  )
  return (
    <Page title="Secrets" actions={make}>
      <Listing
        label="Secrets"
        columns={columnsFor(setChanged)}
        list={secrets}
        keyOf={keyOf}
        onOpen={setChanged}
        empty={
          <Empty title="There are no secrets yet">
            <p>
              Keys of vendors, and what tools and tasks need to get in elsewhere, are kept here. Nobody can read them
              again.
            </p>
          </Empty>
        }
        fills
      />
      {isMaking && <NewSecret namespace={home} onClose={() => setMaking(false)} />}
      {changed !== undefined && <SecretValues secret={changed} onClose={() => setChanged(undefined)} />}
    </Page>
  )
}
