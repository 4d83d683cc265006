// The state of a task in one line: how it is, what worked on it, how long, and what that cost.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { formatMoney } from '../../../../src/client/money.ts'
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import type { TraceStep } from '../../../../src/contract/api/tasks/trace.ts'
import { Badge } from '../../parts/badge.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Ago, Span } from '../../parts/time.tsx'
import { formatCompact } from '../../parts/usage-facts.tsx'
import './state-line.css'

/** The model that was called last. */
function findModel(steps: readonly TraceStep[], { spec }: TaskDetail): string | undefined {
  const called = steps.findLast(({ kind, model }) => kind === 'model' && model !== undefined)?.model?.name
  return called || spec.ai?.model
}

function describeAttempts({ status, spec }: TaskDetail): string | undefined {
  const { attempts = 0 } = status ?? {}
  if (attempts === 0) return undefined
  const possible = Math.max(attempts, (spec.retryPolicy?.maxRetries ?? 0) + 1)
  return possible === 1 ? '1' : `${attempts} of ${possible}`
}

function listParts(task: TaskDetail, steps: readonly TraceStep[]): [string, ReactNode][] {
  const { spec, status, metadata } = task
  const { agentRef } = spec
  const { inputTokens = 0, outputTokens = 0, cost, currency } = status?.usage ?? {}
  const model = findModel(steps, task)
  return [
    [
      'Agent',
      agentRef && (
        <Link to={`/agents/${agentRef.namespace ?? metadata.namespace}/${agentRef.name}`}>
          <Foreign text={agentRef.name} />
        </Link>
      ),
    ],
    ['Model', model && <Foreign text={model} most={100} />],
    ['Duration', status?.startTime && <Span from={status.firstStartTime ?? status.startTime} to={endOf(task)} />],
    ['Cost', cost === undefined ? undefined : <Foreign key="cost" text={formatMoney(cost, currency)} />],
    ['Tokens', inputTokens + outputTokens > 0 && formatCompact(inputTokens + outputTokens)],
    ['Attempt', describeAttempts(task)],
    ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
  ]
}

/** One that waits for another attempt goes on. */
function endOf({ status }: TaskDetail): string | undefined {
  return status?.phase === 'Running' || status?.phase === 'Pending' ? undefined : status?.completionTime
}

export function StateLine({ task, steps }: { task: TaskDetail; steps: readonly TraceStep[] }) {
  const parts = listParts(task, steps).filter(([, value]) => value !== undefined && value !== false && value !== '')
  return (
    <div className="state-line">
      <Badge>{task.status?.phase ?? 'Pending'}</Badge>
      <dl>
        {parts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="number">{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
