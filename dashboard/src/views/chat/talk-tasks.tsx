// Tasks that the conversation has started, each below the call that made it, with its state as it is now.
import { Link } from 'react-router'
import { isJsonObject, tryParseJson } from '../../../../src/lib/json.ts'
import { useObjects } from '../../data/lists.ts'
import { namespaceOf, type SummaryOf } from '../../data/summary.ts'
import { Badge } from '../../parts/badge.tsx'
import type { CallEntry, Entry } from '../../parts/conversation/entries.ts'
import { Foreign } from '../../parts/foreign.tsx'
import { Span } from '../../parts/time.tsx'
import type { SessionPlace } from './turns.ts'

type TaskRow = SummaryOf<'Task'>

export function useTasksOf(place: SessionPlace | undefined): TaskRow[] {
  const { namespace = '', name = '' } = place ?? {}
  const filter = { namespace, labelSelector: `svc.ai/chat-session=${name}`, sort: 'created' } as const
  return useObjects('Task', filter, place !== undefined).items
}

/** The name in the answer of a tool: in its data, or in the summary that a session keeps (`... succeeded (name NAME, ...)`). */
function nameIn({ result }: CallEntry): string | undefined {
  const answer = tryParseJson(result)
  const data = isJsonObject(answer) && isJsonObject(answer.data) ? answer.data : undefined
  return typeof data?.name === 'string' ? data.name : /^[^(\n]{0,200}\(name ([a-z0-9.-]{1,253})/.exec(result)?.[1]
}

function makes(call: CallEntry, tasks: readonly TaskRow[]): TaskRow | undefined {
  if (!call.name.startsWith('create_')) return undefined
  const name = nameIn(call)
  return tasks.find(({ metadata }) => metadata.name === name)
}

export function TaskOfCall({ call, tasks }: { call: CallEntry; tasks: readonly TaskRow[] }) {
  const task = makes(call, tasks)
  return task === undefined ? null : <TaskCard task={task} />
}

/** Those that no call shown here made: of earlier messages, or made while one was under way. */
export function OtherTasks({ entries, tasks }: { entries: readonly Entry[]; tasks: readonly TaskRow[] }) {
  const shown = new Set(entries.map((entry) => (entry.type === 'call' ? makes(entry, tasks) : undefined)))
  return tasks.filter((task) => !shown.has(task)).map((task) => <TaskCard key={task.metadata.uid} task={task} />)
}

function TaskCard({ task }: { task: TaskRow }) {
  const { status, metadata } = task
  return (
    <div className="task-of-talk row">
      <Badge>{status?.phase ?? 'Pending'}</Badge>
      <Link to={`/tasks/${namespaceOf(task)}/${metadata.name}`}>
        <Foreign text={metadata.name} />
      </Link>
      <span className="soft told">
        <Foreign text={status?.message} most={160} />
      </span>
      <Span from={status?.startTime} to={status?.completionTime} />
    </div>
  )
}
