// What each agent cost this week, the dearest first; what is no agent's stands there as well, so that the shares are of all of it.
import { Link } from 'react-router'
import { formatMoney } from '../../../../src/client/money.ts'
import { getUsage, type UsageItem } from '../../../../src/contract/api/budgets/usage.ts'
import { useSum } from '../../data/sums.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { useScope } from '../../parts/scope.ts'
import { Failure } from '../../parts/states.tsx'
import { formatCompact } from '../../parts/usage-facts.tsx'
import { formatShare } from './overview-words.ts'

const mostShown = 8

const tokensOf = ({ inputTokens, outputTokens }: UsageItem) => inputTokens + outputTokens

/** Costs in one currency; where nothing has a price, tokens. */
function sizeOf(item: UsageItem, currency: string | undefined): number {
  if (currency === undefined) return tokensOf(item)
  return item.currency === currency ? (item.cost ?? 0) : 0
}

export function AgentCosts({ since }: { since: string }) {
  const { namespace } = useScope()
  const usage = useSum(['Usage'], getUsage, { query: { groupBy: 'agent', since, ...(namespace && { namespace }) } })
  const items = usage.data?.items ?? []
  const currency = items.find(({ cost = 0 }) => cost > 0)?.currency
  const whole = items.reduce((sum, item) => sum + sizeOf(item, currency), 0)
  const shown = items.toSorted((a, b) => sizeOf(b, currency) - sizeOf(a, currency)).slice(0, mostShown)
  return (
    <section className="card" aria-labelledby="agent-costs">
      <h2 id="agent-costs">
        Cost by agent <span className="soft">7 days</span>
      </h2>
      {usage.error !== null && <Failure error={usage.error} />}
      {items.length === 0 && usage.error === null && <p className="soft">No model was called.</p>}
      {items.length > 0 && (
        <table className="shares">
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Tokens</th>
              <th scope="col">Cost</th>
              <th scope="col">Share</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((item) => (
              <AgentRow
                key={`${item.key} ${item.currency}`}
                item={item}
                share={whole === 0 ? 0 : sizeOf(item, currency) / whole}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function AgentRow({ item, share }: { item: UsageItem; share: number }) {
  const { key, cost, currency } = item
  const name = key.slice(key.indexOf('/') + 1)
  return (
    <tr>
      <td>
        {key === '' ? (
          <span className="soft">not by an agent</span>
        ) : (
          <Link to={`/agents/${key}`}>
            <Foreign text={name} />
          </Link>
        )}
      </td>
      <td className="number">{formatCompact(tokensOf(item))}</td>
      <td className="number">{cost === undefined ? '–' : <Foreign text={formatMoney(cost, currency)} />}</td>
      <td>
        <span className="share-bar" style={{ width: `${Math.round(share * 100)}%` }} />
        <span className="visually-hidden">{formatShare(share)}</span>
      </td>
    </tr>
  )
}
