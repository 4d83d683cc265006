// One delivery of the code host: what came, and everything that it led to.
import { useParams } from 'react-router'
import { getDelivery } from '../../../../src/contract/api/codehost/deliveries.ts'
import { useRecord } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Page } from '../../parts/page.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { DeliveryFacts } from './delivery-facts.tsx'
import { deliveryTones } from './delivery-tones.ts'
import { RedeliverButton } from './redeliver-button.tsx'

export default function DeliveryPage() {
  const { namespace = '', id = '' } = useParams()
  const { data, error, isLoading, refetch } = useRecord('Delivery', getDelivery, {
    params: { id },
    query: { namespace },
  })
  const heading = (
    <span className="row">
      Delivery {data !== undefined && <Badge tone={deliveryTones[data.state] ?? 'plain'}>{data.state}</Badge>}
    </span>
  )
  return (
    <Page title="Delivery" heading={heading} actions={data !== undefined && <RedeliverButton of={data} />}>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {isLoading && <Loading what="the delivery" />}
      {data !== undefined && (
        <div className="grid">
          <DeliveryFacts of={data} />
        </div>
      )}
    </Page>
  )
}
