// What the code host has sent, what each delivery led to, or why nothing happened.
import {
  type DeliveryItem,
  deliveryStates,
  listDeliveries,
  redeliver,
} from '../../../../src/contract/api/codehost/deliveries.ts'
import { useChange, useRecordPages } from '../../data/records.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/choice.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Listing } from '../../parts/listing.tsx'
import { Page } from '../../parts/page.tsx'
import { useParameters, useScope } from '../../parts/scope.ts'
import { Empty } from '../../parts/states.tsx'
import type { Column } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'

const tones: Record<string, Tone> = { pending: 'busy', done: 'good', failed: 'bad', refused: 'bad' }

const columns: Column<DeliveryItem>[] = [
  { title: 'State', width: '96px', cell: ({ state }) => <Badge tone={tones[state] ?? 'plain'}>{state}</Badge> },
  {
    title: 'Event',
    cell: ({ event, action }) => <Foreign text={action === undefined ? event : `${event} ${action}`} />,
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
  { title: 'Again', width: '120px', atEnd: true, narrow: 'hidden', cell: (delivery) => <Again {...delivery} /> },
]

export default function DeliveryListPage() {
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

/** Processes it once more; what it has led to already is not created twice. */
function Again({ id, namespace, state }: DeliveryItem) {
  const again = useChange(redeliver, 'Delivery')
  if (state === 'pending') return null
  const run = () =>
    again.mutate(
      { params: { id }, query: { namespace } },
      { onSuccess: ({ outcome }) => say(outcome.message), onError: sayFailure },
    )
  return (
    <Offered to={redeliver}>
      <Button className="small" busy={again.isPending} onClick={run}>
        Redeliver
      </Button>
    </Offered>
  )
}
