// What people look up about a task, at the right of what became of it.
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { TaskDetail } from '../../../../src/contract/api/tasks/tasks.ts'
import { parentOf, retryOfLabel } from '../../../../src/contract/kinds/tasks/family.ts'
import { useObjects } from '../../data/lists.ts'
import { namespaceOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import { comparePath } from '../../parts/compare-path.ts'
import { Conditions } from '../../parts/conditions.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Foreign, ForeignBlock } from '../../parts/foreign.tsx'
import { ObjectLink } from '../../parts/object-link.tsx'
import { Ago } from '../../parts/time.tsx'
import { UsageFacts } from '../../parts/usage-facts.tsx'
import { visible } from '../../parts/visible-text.ts'
import { isOver, taskPath } from './place.ts'

const text = (value: string | number | undefined) =>
  value === undefined || value === '' ? undefined : <Foreign text={String(value)} />

export function Details({ task }: { task: TaskDetail }) {
  const { status } = task
  const repetitions = useRepetitions(task)
  return (
    <aside className="task-details" aria-label="Details of the task">
      <section>
        <h2>Details</h2>
        <Facts of={[...listOrigin(task), ...repetitions, ...listWork(task), ...listRuns(task)]} />
      </section>
      {status?.usage !== undefined && (
        <section>
          <h2>Usage</h2>
          <UsageFacts usage={status.usage} />
        </section>
      )}
      <Memories task={task} />
      <Children task={task} />
      {(status?.conditions ?? []).length > 0 && (
        <details>
          <summary>Conditions</summary>
          <Conditions of={status?.conditions} />
        </details>
      )}
    </aside>
  )
}

function TaskLink({ namespace, name }: { namespace: string; name: string }) {
  return (
    <Link to={taskPath({ namespace, name })}>
      <Foreign text={name} />
    </Link>
  )
}

function listOrigin(task: TaskDetail): [string, ReactNode][] {
  const { spec, metadata } = task
  const { requestedBy, sessionRef, priorTaskRef } = spec
  const { namespace } = metadata
  const parent = parentOf(task)
  return [
    ['Type', spec.type],
    ['Requested by', text(requestedBy?.username ?? requestedBy?.email ?? requestedBy?.subject)],
    ['Parent', parent && <TaskLink namespace={namespace} name={parent.name} />],
    ['Continues', priorTaskRef && <TaskLink namespace={namespace} name={priorTaskRef.name} />],
    [
      'Session',
      sessionRef && (
        <Link to={`/sessions/${namespace}/${encodeURIComponent(sessionRef.name)}`}>
          <Foreign text={sessionRef.name} />
        </Link>
      ),
    ],
  ]
}

/** What it repeats, and what repeats it, each with a link that compares the two. */
function useRepetitions(task: TaskDetail): [string, ReactNode][] {
  const { namespace, name, labels } = task.metadata
  const labelSelector = `${retryOfLabel}=${name}`
  const later = useObjects('Task', { namespace, labelSelector, sort: 'created' }, isOver(task))
  const origin = labels?.[retryOfLabel]
  const earlier = origin === undefined ? undefined : { metadata: { ...task.metadata, name: origin } }
  return [
    [
      'Retry of',
      earlier && <Repetition name={earlier.metadata.name} namespace={namespace} to={comparePath(earlier, task)} />,
    ],
    [
      'Retried as',
      later.items.length > 0 && (
        <ul>
          {later.items.map((one) => (
            <li key={one.metadata.uid}>
              <Repetition name={one.metadata.name} namespace={namespace} to={comparePath(task, one)} />
            </li>
          ))}
        </ul>
      ),
    ],
  ]
}

function Repetition({ namespace, name, to }: { namespace: string; name: string; to: string }) {
  return (
    <span className="row">
      <TaskLink namespace={namespace} name={name} />
      <Link className="text-link" to={to} aria-label={`Compare with ${visible(name)}`}>
        Compare
      </Link>
    </span>
  )
}

const linkProvider = (of: { name: string; namespace?: string | undefined }, { namespace }: { namespace: string }) => (
  <ObjectLink kind="Provider" namespace={of.namespace ?? namespace} name={of.name} />
)

function listWork({ spec, metadata }: TaskDetail): [string, ReactNode][] {
  const { ai, workspace = spec.agentRuntime?.workspace } = spec
  const labels = Object.entries(metadata.labels ?? {}).map(([name, value]) => `${name}=${value}`)
  return [
    ['Provider', ai?.providerRef ? linkProvider(ai.providerRef, metadata) : text(ai?.provider)],
    ['Image', text(spec.image)],
    ['Repository', text(workspace?.gitRepo)],
    ['Branch', text(workspace?.branch ?? workspace?.ref)],
    ['Time limit', text(spec.timeout)],
    ['Priority', spec.priority],
    ['Labels', text(labels.join(', '))],
  ]
}

/** How often it ran, and when it runs again. */
function listRuns({ status, spec, metadata }: TaskDetail): [string, ReactNode][] {
  const { interruptions, iteration, nextRetryTime, nextScheduleTime, webhook, queuedReason } = status ?? {}
  return [
    ['Waits for', text(queuedReason)],
    ['Created', <Ago key="created" at={metadata.creationTimestamp} />],
    ['Started', status?.startTime && <Ago at={status.startTime} />],
    ['Next attempt', nextRetryTime && <Ago key="retry" at={nextRetryTime} />],
    ['Interruptions', interruptions || undefined],
    ['Iteration', iteration === undefined ? undefined : iteration + 1],
    ['Suspended', spec.suspend ? 'yes: nothing more of it starts' : undefined],
    ['Schedule', spec.schedule && <code key="schedule">{`${spec.schedule} ${spec.timeZone ?? 'UTC'}`}</code>],
    ['Next run', nextScheduleTime && <Ago key="next" at={nextScheduleTime} />],
    ['Callback', webhook && `${webhook.state} after ${webhook.attempts} attempts`],
  ]
}

function Memories({ task: { status } }: { task: TaskDetail }) {
  const memories = status?.memories ?? []
  if (memories.length === 0) return null
  return (
    <section>
      <h2>Memories used</h2>
      <ul className="stack">
        {memories.map(({ id, why }) => (
          <li key={id}>
            <Foreign className="mono" text={id} /> <Foreign className="soft" text={why} most={300} />
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
    <section>
      <h2>Child tasks</h2>
      <ul className="stack">
        {children.map(({ name, phase, agent }) => (
          <li key={name} className="row">
            <Badge>{phase ?? 'Pending'}</Badge> <TaskLink namespace={namespaceOf(task)} name={name} />
            <ObjectLink kind="Agent" namespace={namespaceOf(task)} name={agent} className="soft" />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What it is asked to do, folded: the name of the task says it in short. */
export function Prompt({ task: { spec } }: { task: TaskDetail }) {
  const prompt = spec.ai?.prompt ?? spec.prompt ?? ''
  const command = [...(spec.command ?? []), ...(spec.args ?? [])]
  if (prompt === '' && command.length === 0) return null
  const title = prompt === '' ? 'Command' : 'Prompt'
  const words = prompt || command.join('\n')
  return (
    <details className="task-prompt">
      <summary>
        {title} <Foreign className="soft" text={words.replace(/\s+/g, ' ')} most={160} />
      </summary>
      <ForeignBlock label={title} text={words} />
    </details>
  )
}
