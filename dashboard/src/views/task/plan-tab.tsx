// The plan of an autonomous agent: the newest, and those before it.
import { useState } from 'react'
import { listTaskPlans } from '../../../../src/contract/api/tasks/tasks.ts'
import { useRecord } from '../../data/records.ts'
import { Button } from '../../parts/button.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Markdown } from '../../parts/markdown/markdown.tsx'
import { Empty, Failure, Loading } from '../../parts/states.tsx'
import { Ago } from '../../parts/time.tsx'
import { type TaskPlace, targetOf } from './place.ts'
import './plan-tab.css'

export function PlanTab({ place }: { place: TaskPlace }) {
  const { params, query } = targetOf(place)
  const plans = useRecord('Plan', listTaskPlans, { params, query: { ...query, limit: 200 } })
  const [number, setNumber] = useState<number>()
  if (plans.error !== null) return <Failure error={plans.error} retry={() => void plans.refetch()} />
  if (plans.data === undefined) return <Loading what="plans" />
  const { items } = plans.data
  const shown = items.find(({ Number: one }) => one === number) ?? items[0]
  if (shown === undefined) {
    return (
      <Empty title="It has saved no plan yet">
        <p>An agent that works in iterations saves one with its tool update_plan.</p>
      </Empty>
    )
  }
  return (
    <div className="plan">
      <section className="card stack">
        <h2>
          Plan {shown.Number}, of iteration {shown.Iteration + 1}
        </h2>
        <div className="row">
          <progress max={100} value={shown.ProgressPct} aria-label="Progress" />
          <span className="number">{shown.ProgressPct} %</span>
          {shown.GoalComplete && <span className="badge">The goal is reached</span>}
        </div>
        <p>
          <Foreign text={shown.Summary} most={4000} />
        </p>
        <Markdown label="Plan" text={shown.PlanDocument} />
      </section>
      <nav className="card stack" aria-label="Plans">
        <h2>All plans</h2>
        <ol className="stack">
          {items.map((plan) => (
            <li key={plan.Number}>
              <Button look="plain" aria-pressed={plan === shown} onClick={() => setNumber(plan.Number)}>
                {plan.Number}: {plan.ProgressPct} %
              </Button>{' '}
              <Ago at={plan.SavedAt} />
            </li>
          ))}
        </ol>
      </nav>
    </div>
  )
}
