// How each provider does.
import { Link } from 'react-router'
import type { Overview } from '../../../../src/contract/api/service/overview.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Empty } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'

const states = {
  failing: ['bad', 'failing'],
  notReady: ['bad', 'not ready'],
  coolingDown: ['warn', 'cooling down'],
  unknown: ['plain', 'not asked yet'],
  good: ['good', 'good'],
} as const

export function Providers({ of: { providers } }: { of: Overview }) {
  if (providers === undefined) return null
  return (
    <section className="card" aria-labelledby="providers">
      <h2 id="providers">Providers</h2>
      {providers.length === 0 && (
        <Empty title="There is no provider yet">
          <p>
            <code>svc provider create</code> sets one up, so that tasks can ask a model.
          </p>
        </Empty>
      )}
      <ul className="stack">
        {providers.map(({ name, namespace, state, lastReached }) => (
          <li key={`${namespace}/${name}`} className="row">
            <span className="badge" data-tone={states[state][0]}>
              {states[state][1]}
            </span>
            <Link to={`/providers/${namespace}/${name}`}>
              <Foreign text={name} />
            </Link>
            <span className="soft">{namespace}</span>
            {lastReached !== undefined && <Ago at={lastReached} />}
          </li>
        ))}
      </ul>
    </section>
  )
}
