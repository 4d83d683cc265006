import { type DeliveryItem, redeliver } from '../../../../src/contract/api/codehost/deliveries.ts'
import { useChange } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { say, sayFailure } from '../../parts/toasts.tsx'
import { Offered } from '../../session/offered.tsx'

/** Processes the delivery once more; what it has led to already is not created twice. */
export function RedeliverButton({ of: { id, namespace, state } }: { of: DeliveryItem }) {
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
