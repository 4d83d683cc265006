// Reports to the cluster what happens to tasks: a Kubernetes Event for each timeline entry that `kubectl describe`
// should show.
import { messageOf } from '../errors.ts'
import { type Clock, type Ids, monotonicMs } from '../lib/clock.ts'
import type { EventRecord, Events } from '../ports/tasks/events.ts'
import { collections } from './api/paths.ts'
import type { KubernetesApi } from './api.ts'

export type ClusterEventsOptions = {
  api: Pick<KubernetesApi, 'request'>
  clock: Clock
  ids: Ids
  /** apiVersion of tasks. */
  apiVersion: string
  log: { warn(fields: Record<string, unknown>, message: string): void }
  /** The most waiting events; default 500. */
  capacity?: number
}

export type ClusterEvents = {
  /** Queues the event; when the queue is full it is dropped, since the timeline has it anyway. */
  publish(event: EventRecord): void
  /** Resolves when nothing is waiting. */
  settle(): Promise<void>
  /** Drops waiting events. */
  close(): Promise<void>
}

const defaultCapacity = 500
/** NoteLengthLimit of events.k8s.io. */
const maxMessageLength = 1024
/** Time between two log lines about lost events. */
const reportMs = 60_000
const component = 'svc'

const warnings = new Set([
  'Failed',
  'Interrupted',
  'RetryScheduled',
  'MissedSchedule',
  'CallbackFailed',
  'NamespaceTaskLimitReached',
])

/** Causes with a name that users of the cluster know better than the timeline's. */
const reasons: Record<string, string> = { NamespaceLimit: 'NamespaceTaskLimitReached' }

/** Not news, because the task's own status shows it: accepted, scheduled, waiting for its turn. */
function isNews({ type, phase, reason }: EventRecord): boolean {
  if (type === 'PhaseChanged') return phase !== 'Pending' && phase !== 'Scheduled'
  return type !== 'Queued' || reason !== 'Capacity'
}

function nameReason({ type, phase, reason }: EventRecord): string {
  if (type === 'PhaseChanged') return reason ?? phase ?? type
  if (type !== 'Queued') return type
  return reasons[reason ?? ''] ?? reason ?? type
}

function isWarning(event: EventRecord): boolean {
  return event.phase === 'Failed' || warnings.has(nameReason(event))
}

function describeEvent(event: EventRecord, { apiVersion, ids }: ClusterEventsOptions): object {
  const { namespace, taskName: name, taskUid: uid, message } = event
  // The API server keeps whole seconds.
  const moment = `${event.createdAt.slice(0, 19)}Z`
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { namespace, name: `${name}.${ids.hex(8)}` },
    involvedObject: { apiVersion, kind: 'Task', namespace, name, uid },
    reason: nameReason(event),
    message: message.slice(0, maxMessageLength),
    type: isWarning(event) ? 'Warning' : 'Normal',
    source: { component },
    reportingComponent: component,
    firstTimestamp: moment,
    lastTimestamp: moment,
    count: 1,
  }
}

/** Counts lost events, and reports them from time to time. */
function createLossReport({ clock, log }: ClusterEventsOptions) {
  let lost = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  return (error: string): void => {
    lost += 1
    const now = monotonicMs(clock)
    if (now - reportedAt < reportMs) return
    log.warn({ error, lost }, 'events of tasks were not sent to the cluster; their timelines have them')
    lost = 0
    reportedAt = now
  }
}

export function createClusterEvents(options: ClusterEventsOptions): ClusterEvents {
  const { api, capacity = defaultCapacity } = options
  const closed = new AbortController()
  const waiting: EventRecord[] = []
  const complain = createLossReport(options)
  let sending: Promise<void> | undefined

  async function send(event: EventRecord): Promise<void> {
    const { namespace } = event
    const body = describeEvent(event, options)
    try {
      const { signal } = closed
      await api.request({ verb: 'create', collection: collections.events, namespace, body, signal, tries: 1 })
    } catch (error) {
      if (!closed.signal.aborted) complain(messageOf(error))
    }
  }

  /** One after the other: a task exists before its events. */
  async function sendAll(): Promise<void> {
    for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) await send(event)
    sending = undefined
  }

  return {
    publish(event) {
      if (closed.signal.aborted || !isNews(event)) return
      if (waiting.length >= capacity) return complain('too many wait')
      waiting.push(event)
      sending ??= sendAll()
    },
    settle: async () => await sending,
    async close() {
      closed.abort()
      waiting.length = 0
      await sending
    },
  }
}

/** The store of timelines, which also reports each new entry to the cluster. */
export function withClusterEvents(events: Events, clusterEvents: Pick<ClusterEvents, 'publish'>, clock: Clock): Events {
  return {
    ...events,
    async append(draft, admit) {
      const begun = clock.now().toISOString()
      const event = await events.append(draft, admit)
      // An entry that existed already was reported then.
      if (event.createdAt >= begun) clusterEvents.publish(event)
      return event
    },
  }
}
