// What came in a delivery, and everything that it led to.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { DeliveryItem } from '../../../../src/contract/api/codehost/deliveries.ts'
import { Facts } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Ago } from '../../parts/time.tsx'

const words = (text: string | undefined) => text && <Foreign text={text} most={2000} />

export function DeliveryFacts({ of }: { of: DeliveryItem }) {
  const { event, action, repository, number, sender, receivedAt, attempts, dueAt } = of
  return (
    <>
      <section className="card">
        <h2>What came</h2>
        <Facts
          of={[
            ['Event', words(action === undefined ? event : `${event} ${action}`)],
            ['Of', words(number === undefined ? repository : `${repository}#${number}`)],
            ['From', words(sender)],
            ['Received', <Ago key="received" at={receivedAt} />],
            ['Attempts', attempts],
            ['Taken up again', dueAt && <Ago key="due" at={dueAt} />],
            ['Id', <Foreign key="id" className="mono" text={of.id} />],
          ]}
        />
      </section>
      <section className="card">
        <h2>What it led to</h2>
        <Facts of={listOutcome(of)} />
      </section>
    </>
  )
}

const TaskLink = ({ path }: { path: string }) => (
  <Link className="text-link" to={`/tasks/${path}`}>
    <Foreign text={path.slice(path.indexOf('/') + 1)} />
  </Link>
)

function listOutcome({ outcome }: DeliveryItem): [string, ReactNode][] {
  const { taskName, namespace, cancelledTasks = [], cancelledRuns = [], runIDs = [] } = outcome
  return [
    ['Outcome', outcome.status],
    ['Message', words(outcome.message)],
    ['Answered', outcome.code],
    ['Action', words(outcome.action)],
    ['Label', words(outcome.label)],
    ['Task', taskName && <TaskLink path={`${namespace ?? 'default'}/${taskName}`} />],
    ['Cancelled', cancelledTasks.length > 0 && <Paths of={cancelledTasks} />],
    ['Monitors that wait', outcome.matchedMonitors],
    ['Runs queued', outcome.monitorRunsQueued],
    ['Runs queued before', outcome.monitorRunsCached],
    ['Runs led to before', outcome.monitorRunsSkipped],
    ['Runs', words(runIDs.join(', '))],
    ['Runs ended', words(cancelledRuns.join(', '))],
  ]
}

function Paths({ of }: { of: readonly string[] }) {
  return (
    <ul>
      {of.map((path) => (
        <li key={path}>
          <TaskLink path={path} />
        </li>
      ))}
    </ul>
  )
}
