// Waits for tasks over the one live stream: each state of theirs as it comes, until each has ended or is gone.
import { getTask, getTaskEvents } from '../contract/api/tasks/tasks.ts'
import { isTerminalPhase, type Task, type TaskPhase } from '../contract/kinds/tasks/task.ts'
import { isSvcError } from '../errors.ts'
import type { Client } from './client.ts'
import { readEvents, readPersistently } from './event-stream.ts'
import { type ObjectEvent, watchObjects } from './watch.ts'

/** `gone`: it was removed, perhaps before it was looked at; the task is its last known state. */
export type WatchedTask = { task: Task; is: 'there' | 'ended' | 'gone' }

/** More names than that are not sent: all tasks of the namespace are watched. */
const maxNames = 50

type Waiting = Map<string, Task>

function stateOf(task: Task): WatchedTask {
  return { task, is: isTerminalPhase(task.status?.phase) ? 'ended' : 'there' }
}

/** What an event says of the tasks that are waited for; `present` receives those that exist. */
function readEvent(event: ObjectEvent<Task>, waiting: Waiting, present: Set<string>): WatchedTask[] {
  if (event.type === 'begin') present.clear()
  else if (event.type === 'synced') {
    const gone = [...waiting].filter(([uid]) => !present.has(uid))
    return gone.map(([, task]) => ({ task, is: 'gone' }))
  } else if (waiting.has(event.object.metadata.uid)) {
    present.add(event.object.metadata.uid)
    return [event.type === 'deleted' ? { task: event.object, is: 'gone' } : stateOf(event.object)]
  }
  return []
}

async function* watchAll(client: Client, waiting: Waiting, signal: AbortSignal): AsyncGenerator<WatchedTask> {
  const tasks = [...waiting.values()]
  const names = tasks.length > maxNames ? undefined : tasks.map(({ metadata }) => metadata.name).join(',')
  const namespaces = [...new Set(tasks.map(({ metadata }) => metadata.namespace))].join(',')
  const present = new Set<string>()
  for await (const event of watchObjects<Task>(client, { kinds: 'Task', namespaces, names }, signal)) {
    for (const state of readEvent(event, waiting, present)) {
      waiting.set(state.task.metadata.uid, state.task)
      if (state.is !== 'there') waiting.delete(state.task.metadata.uid)
      yield state
    }
    if (waiting.size === 0) return
  }
}

/** The timeline shows a task and its end to whoever may read it. */
async function* followTimeline(client: Client, task: Task, signal: AbortSignal): AsyncGenerator<WatchedTask> {
  const { name, namespace } = task.metadata
  const params = { id: name }
  let status = task.status
  try {
    for await (const { data } of readEvents(client, getTaskEvents, {
      params,
      query: { namespace, follow: true },
      signal,
    })) {
      const { phase, message } = JSON.parse(data) as { phase?: TaskPhase; message?: string }
      if (isTerminalPhase(phase)) continue
      // Not every event changes the phase.
      status = { ...status, ...(phase !== undefined && { phase }), message } as Task['status']
      yield { task: { ...task, status }, is: 'there' }
    }
    yield stateOf(await readPersistently(() => client.call(getTask, { params, query: { namespace } })))
  } catch (error) {
    if (!isSvcError(error, 'NotFound')) throw error
    yield { task, is: 'gone' }
  }
}

/**
 * Ends when every task has ended or is gone, or when the signal aborts. A lost connection and a service that starts again are
 * no end. A caller who may read tasks and not list them watches them one after the other.
 */
export async function* watchTasks(
  client: Client,
  tasks: readonly Task[],
  signal: AbortSignal,
): AsyncGenerator<WatchedTask> {
  const waiting: Waiting = new Map(tasks.map((task) => [task.metadata.uid, task]))
  try {
    yield* watchAll(client, waiting, signal)
  } catch (error) {
    if (!isSvcError(error, 'Forbidden')) throw error
    for (const task of waiting.values()) yield* followTimeline(client, task, signal)
  }
}
