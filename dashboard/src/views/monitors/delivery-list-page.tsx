// What the code host has sent, what each delivery led to, or why nothing happened.
import { Link } from 'react-router'
import { type DeliveryItem, deliveryStates, listDeliveries } from '../../../../src/contract/api/codehost/deliveries.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Beside } from '../../parts/side-panel.tsx'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { DeliveryFacts } from './delivery-facts.tsx'
import { deliveryTones } from './delivery-tones.ts'
import { RedeliverButton } from './redeliver-button.tsx'

const pathOf = ({ namespace, id }: DeliveryItem) => `/deliveries/${namespace}/${encodeURIComponent(id)}`

const columns: Column<DeliveryItem>[] = [
  { title: 'State', width: '96px', cell: ({ state }) => <Badge tone={deliveryTones[state] ?? 'plain'}>{state}</Badge> },
  {
    title: 'Event',
    cell: (delivery) => (
      <Link to={pathOf(delivery)}>
        <Foreign text={[delivery.event, delivery.action].filter(Boolean).join(' ')} />
      </Link>
    ),
  },
  {
    title: 'Of',
    cell: ({ repository, number }) => <Foreign text={number === undefined ? repository : `${repository}#${number}`} />,
    narrow: 'hidden',
  },
  { title: 'From', width: '110px', cell: ({ sender }) => <Foreign text={sender} />, narrow: 'hidden' },
  {
    title: 'Outcome',
    width: 'minmax(0, 2fr)',
    cell: ({ outcome }) => <Foreign text={outcome.message} most={300} />,
    narrow: 'second',
  },
  {
    title: 'Received',
    width: '112px',
    atEnd: true,
    narrow: 'hidden',
    cell: ({ receivedAt }) => <Ago at={receivedAt} />,
  },
  {
    title: 'Again',
    width: '120px',
    atEnd: true,
    narrow: 'hidden',
    cell: (delivery) => <RedeliverButton of={delivery} />,
  },
]

/** The panel says the rest. */
const columnsBeside = columns.filter(({ title }) => ['State', 'Event', 'Received'].includes(title))

export default function DeliveryListPage() {
  const [parameters, change] = useParameters()
  const { namespace } = useScope()
  const state = parameters.get('state') ?? undefined
  const deliveries = useRecordPages('Delivery', listDeliveries, { query: { namespace, state } })
  const open = deliveries.items.find(({ id }) => id === parameters.get('delivery'))
  return (
    <Page title="Deliveries of webhooks" actions={<Choice name="state" label="State" values={deliveryStates} />}>
      <Beside label="Delivery" panel={open && <Opened of={open} />} onClose={() => change({ delivery: '' })}>
        <Listing
          label="Deliveries"
          columns={open === undefined ? columns : columnsBeside}
          list={deliveries}
          keyOf={({ id }) => id}
          openKey={open?.id}
          onOpen={({ id }) => change({ delivery: id })}
          fills
          empty={
            <Empty title={state === undefined ? 'Nothing was delivered yet' : 'No delivery matches'}>
              <p style={{ maxWidth: 480 }}>
                <code>svc codehost</code> tells how the code host learns to send its events here.
              </p>
            </Empty>
          }
        />
      </Beside>
    </Page>
  )
}

function Opened({ of }: { of: DeliveryItem }) {
  return (
    <>
      <div className="row">
        <Badge tone={deliveryTones[of.state] ?? 'plain'}>{of.state}</Badge>
        <Link className="text-link" to={pathOf(of)}>
          Open its page
        </Link>
        <span className="grow" />
        <RedeliverButton of={of} />
      </div>
      <DeliveryFacts of={of} />
    </>
  )
}
