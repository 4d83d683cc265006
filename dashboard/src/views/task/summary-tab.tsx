// What the task is, how far it is, and why.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { namespaceOf, type SummaryOf } from '../../data/summary.ts'
import { PendingApprovals } from '../../parts/approvals.tsx'
import { Badge } from '../../parts/badge.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { Ago, Span } from '../../parts/time.tsx'
import { UsageFacts } from '../../parts/usage-facts.tsx'
import { taskPath } from './place.ts'

export function SummaryTab({ task }: { task: TaskDetail }) {
  return (
    <>
      <PendingApprovals namespace={task.metadata.namespace} tasks={[task as SummaryOf<'Task'>]} />
      <Cards task={task} />
    </>
  )
}

function Cards({ task }: { task: TaskDetail }) {
  return (
    <div className="grid">
      <State task={task} />
      <Kind task={task} />
      <Work task={task} />
      {task.status?.usage !== undefined && (
        <section className="card">
          <h2>Used</h2>
          <UsageFacts usage={task.status.usage} />
        </section>
      )}
      <Conditions task={task} />
      <Children task={task} />
    </div>
  )
}

const text = (value: string | number | undefined) =>
  value === undefined || value === '' ? undefined : <Foreign text={String(value)} />

function State({ task }: { task: TaskDetail }) {
  const { status, metadata } = task
  return (
    <section className="card">
      <h2>Status</h2>
      <Facts
        of={[
          ['State', <Badge key="phase">{status?.phase ?? 'Pending'}</Badge>],
          ['Message', text(status?.message)],
          ['Why it waits', text(status?.queuedReason)],
          ['Why it failed', text(status?.failureReason)],
          ['Next attempt', status?.nextRetryTime && <Ago at={status.nextRetryTime} />],
          ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
          ['Started', status?.startTime && <Ago at={status.startTime} />],
          ['Duration', <Span key="duration" from={status?.startTime} to={status?.completionTime} />],
          ...listRuns(task),
        ]}
      />
    </section>
  )
}

/** How often it ran, and when it runs again. */
function listRuns({ status, spec }: TaskDetail): [string, ReactNode][] {
  const { attempts = 0, interruptions, iteration } = status ?? {}
  const { maxRetries = 0 } = spec.retryPolicy ?? {}
  return [
    ['Attempts', attempts > 0 && `${attempts} of ${Math.max(attempts, maxRetries + 1)}`],
    ['Interruptions', interruptions || undefined],
    ['Iteration', iteration === undefined ? undefined : iteration + 1],
    ['Suspended', spec.suspend ? 'yes: nothing more of it starts' : undefined],
    ['Schedule', spec.schedule && <code key="schedule">{`${spec.schedule} ${spec.timeZone ?? 'UTC'}`}</code>],
    ['Next run', status?.nextScheduleTime && <Ago key="next" at={status.nextScheduleTime} />],
    ['Callback', status?.webhook && `${status.webhook.state} after ${status.webhook.attempts} attempts`],
  ]
}

function describeLabels(labels: Record<string, string> | undefined): string | undefined {
  return (
    labels &&
    Object.entries(labels)
      .map(([name, value]) => `${name}=${value}`)
      .join(', ')
  )
}

function Kind({ task: { spec, metadata } }: { task: TaskDetail }) {
  const { requestedBy, agentRef, ai, workspace = spec.agentRuntime?.workspace } = spec
  const agentPlace = agentRef && `${agentRef.namespace ?? metadata.namespace}/${agentRef.name}`
  return (
    <section className="card">
      <h2>Details</h2>
      <Facts
        of={[
          ['Type', spec.type],
          [
            'Agent',
            agentRef && (
              <Link to={`/agents/${agentPlace}`}>
                <Foreign text={agentRef.name} />
              </Link>
            ),
          ],
          ['Provider', text(ai?.providerRef?.name ?? ai?.provider)],
          ['Model', text(ai?.model)],
          ['Image', text(spec.image)],
          ['Repository', text(workspace?.gitRepo)],
          ['Branch', text(workspace?.branch ?? workspace?.ref)],
          ['Continues', spec.priorTaskRef && <TaskLink namespace={metadata.namespace} name={spec.priorTaskRef.name} />],
          ['Session', text(spec.sessionRef?.name)],
          ['Asked for by', text(requestedBy?.username ?? requestedBy?.email ?? requestedBy?.subject)],
          ['Time limit', text(spec.timeout)],
          ['Priority', spec.priority],
          ['Labels', text(describeLabels(metadata.labels))],
        ]}
      />
    </section>
  )
}

function TaskLink({ namespace, name }: { namespace: string; name: string }) {
  return (
    <Link to={taskPath({ namespace, name })}>
      <Foreign text={name} />
    </Link>
  )
}

function Work({ task: { spec } }: { task: TaskDetail }) {
  const prompt = spec.ai?.prompt ?? spec.prompt ?? ''
  const command = [...(spec.command ?? []), ...(spec.args ?? [])]
  if (prompt === '' && command.length === 0) return null
  return (
    <section className="card stack">
      <h2>{prompt === '' ? 'Command' : 'Prompt'}</h2>
      <ForeignBlock label={prompt === '' ? 'Command' : 'Prompt'} text={prompt || command.join('\n')} />
    </section>
  )
}

function Conditions({ task: { status } }: { task: TaskDetail }) {
  const conditions = status?.conditions ?? []
  if (conditions.length === 0) return null
  return (
    <section className="card">
      <h2>Conditions</h2>
      <ul className="stack">
        {conditions.map(({ type, status: holds, reason, message, lastTransitionTime }) => (
          <li key={type}>
            <span className="row">
              <span className="badge">{`${type}: ${holds}`}</span> <Foreign className="soft" text={reason} />
              <Ago at={lastTransitionTime} />
            </span>
            <Foreign text={message} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Children({ task }: { task: TaskDetail }) {
  const children = task.status?.childTasks ?? []
  if (children.length === 0) return null
  return (
    <section className="card">
      <h2>Tasks that it made</h2>
      <ul className="stack">
        {children.map(({ name, phase, agent }) => (
          <li key={name} className="row">
            <Badge>{phase ?? 'Pending'}</Badge> <TaskLink namespace={namespaceOf(task)} name={name} />
            <Foreign className="soft" text={agent} />
          </li>
        ))}
      </ul>
    </section>
  )
}
