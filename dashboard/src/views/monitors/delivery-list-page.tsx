// What the code host has sent, what each delivery led to, or why nothing happened.
import { Link, useNavigate } from 'react-router'
import { type DeliveryItem, deliveryStates, listDeliveries } from '../../../../src/contract/api/codehost/deliveries.ts'
import { useRecordPages } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
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

export default function DeliveryListPage() {
  const navigate = useNavigate()
  const [parameters] = useParameters()
  const { namespace } = useScope()
  const state = parameters.get('state') ?? undefined
  const deliveries = useRecordPages('Delivery', listDeliveries, { query: { namespace, state } })
  return (
    <Page title="Deliveries of webhooks" actions={<Choice name="state" label="State" values={deliveryStates} />}>
      <Listing
        label="Deliveries"
        columns={columns}
        list={deliveries}
        keyOf={({ id }) => id}
        onOpen={(delivery) => void navigate(pathOf(delivery))}
        fills
        empty={
          <Empty title={state === undefined ? 'Nothing was delivered yet' : 'No delivery matches'}>
            <p style={{ maxWidth: 480 }}>
              <code>svc codehost</code> tells how the code host learns to send its events here.
            </p>
          </Empty>
        }
      />
    </Page>
  )
}
