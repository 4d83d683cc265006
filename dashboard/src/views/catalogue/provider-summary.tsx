// A provider, and a trial of it that costs nothing.
import { formatMoney } from '../../../../src/client/money.ts'
import { listPrices, testProvider } from '../../../../src/contract/api/providers/providers.ts'
import type { Provider } from '../../../../src/contract/kinds/providers/provider.ts'
import { describeVendor } from '../../../../src/contract/kinds/providers/vendor-names.ts'
import { useChange, useRecord } from '../../data/records.ts'
import { Badge } from '../../parts/badge.tsx'
import { Button } from '../../parts/button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { OutsideLink } from '../../parts/outside-link.tsx'
import { Failure } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { ReadyBadge } from '../objects/columns.tsx'

export function ProviderSummary({ object: { metadata, spec, status } }: { object: Provider }) {
  return (
    <>
      <section className="card" aria-labelledby="details">
        <h2 id="details">Details</h2>
        <Facts
          of={[
            ['State', <ReadyBadge key="state" ready={status?.ready} />],
            ['Type', describeVendor(spec.type)],
            ['Default', spec.default ? 'answers where no provider is named' : undefined],
            ['Address', spec.baseURL && <Foreign text={spec.baseURL} />],
            ['Model', spec.defaultModel && <Foreign text={spec.defaultModel} />],
            ['Key', spec.secretRef && <Foreign text={`${spec.secretRef.name} / ${spec.secretRef.key}`} />],
            ['Message', status?.message && <Foreign text={status.message} />],
            ['Last error', status?.lastError && <Foreign text={status.lastError} />],
            ['Last reached', status?.lastReached && <Ago key="reached" at={status.lastReached} />],
            ['Rests until', status?.coolingDownUntil && <Ago key="rests" at={status.coolingDownUntil} />],
            ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
          ]}
        />
      </section>
      {spec.defaultModel !== undefined && <ModelPrice {...metadata} model={spec.defaultModel} />}
      <Trial {...metadata} />
    </>
  )
}

/** The price that applies to the model, and whose it is. */
function ModelPrice({ namespace, name, model }: { namespace: string; name: string; model: string }) {
  const prices = useRecord('Provider', listPrices, { params: { name }, query: { namespace, model } })
  if (prices.data === undefined) return null
  const [price] = prices.data.items
  return (
    <section className="card stack" aria-labelledby="price">
      <h2 id="price">Price</h2>
      {price === undefined ? (
        <p className="soft">
          No price is known for <Foreign text={model} />, so that its calls have no cost. Set one under `prices` in
          Edit.
        </p>
      ) : (
        <>
          <Facts
            of={[
              ['A million tokens in', priceOf(price.inputPerMillion, price.currency)],
              ['Cached', priceOf(price.cachedInputPerMillion, price.currency)],
              ['Written to the cache', priceOf(price.cacheWritePerMillion, price.currency)],
              ['A million tokens out', priceOf(price.outputPerMillion, price.currency)],
              ['Applies to', <Foreign key="model" text={price.model} />],
              [
                'From',
                price.from === 'provider' ? 'this provider' : `the price list of ${price.vendor}, ${price.asOf}`,
              ],
            ]}
          />
          {price.source !== undefined && <OutsideLink to={price.source}>{price.source}</OutsideLink>}
        </>
      )}
    </section>
  )
}

const priceOf = (amount: number | undefined, currency: string) =>
  amount === undefined ? undefined : formatMoney(amount, currency)

function Trial({ namespace, name }: { namespace: string; name: string }) {
  const trial = useChange(testProvider)
  const found = trial.data
  return (
    <section className="card stack" aria-labelledby="trial">
      <h2 id="trial">Does it answer?</h2>
      <p>The service asks the vendor for its list of models, with the key. No model is called.</p>
      <div>
        <Button busy={trial.isPending} onClick={() => trial.mutate({ params: { name }, query: { namespace } })}>
          Try it
        </Button>
      </div>
      {trial.error !== null && <Failure error={trial.error} />}
      {found !== undefined && (
        <div className="stack" role="status">
          <p className="row">
            <Badge tone={found.ok ? 'good' : 'bad'}>{found.ok ? 'It answers' : (found.reason ?? 'Failed')}</Badge>
            <Foreign text={found.message} />
          </p>
          {found.models.length > 0 && <Foreign className="soft" text={found.models.join(', ')} />}
        </div>
      )}
    </section>
  )
}
