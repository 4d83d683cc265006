// Writes what happened: first the timeline event, then the status that announces it (TASK-062).
import type { Task, TaskStatus } from '../../contract/kinds/tasks/task.ts'
import { isSvcError, SvcError } from '../../errors.ts'
import { dropUndefined } from '../../lib/json.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { redactText } from '../../observability/redaction.ts'
import type { Resources } from '../../ports/resources/resources.ts'
import type { Leadership } from '../../ports/service/leadership.ts'
import type { Events } from '../../ports/tasks/events.ts'
import { measureChange } from '../../rules/tasks/measure.ts'

/** Receives what is counted. */
export type TaskObserver = Pick<Metrics, 'observeTask' | 'countTimelineEvents'>

export type TaskEvent = {
  type: string
  phase?: TaskStatus['phase']
  reason?: string
  message: string
  /** Default: the live attempt. */
  attempt?: number
}

/** Fields to set; undefined removes one. */
export type StatusChange = { [Field in keyof TaskStatus]?: TaskStatus[Field] | undefined }

export type StatusRecorder = {
  append(task: Task, event: TaskEvent): Promise<void>
  /** Writes the changed status if it differs; returns the task as it is then. */
  write(task: Task, change: StatusChange): Promise<Task>
  /** Writes an event, then the status that it announces. */
  move(task: Task, event: TaskEvent, change: StatusChange): Promise<Task>
}

const maxWrites = 5

type Write = { target: Task; status: TaskStatus; triesLeft: number }

function applyChange(task: Task, change: StatusChange): TaskStatus {
  const merged = { ...task.status, observedGeneration: task.metadata.generation, ...change }
  if (merged.message !== undefined) merged.message = redactText(merged.message)
  return dropUndefined(merged)
}

function isSameStatus(a: TaskStatus | undefined, b: TaskStatus | undefined): boolean {
  return JSON.stringify(a ?? {}) === JSON.stringify(b ?? {})
}

function dropWorkspace({ executionWorkspace: _own, ...status }: TaskStatus = {}): TaskStatus {
  return status
}

/** What others have written about the workspace meanwhile stays, unless this very change is about it. */
function keepWorkspace(task: Task, { status: fresh }: Task, status: TaskStatus): TaskStatus {
  const isOurs = status.executionWorkspace !== task.status?.executionWorkspace
  const executionWorkspace = isOurs ? status.executionWorkspace : fresh?.executionWorkspace
  return executionWorkspace === undefined ? dropWorkspace(status) : { ...status, executionWorkspace }
}

type RecorderDeps = {
  resources: Resources
  events: Events
  leadership: Pick<Leadership, 'requireTerm'>
  observer?: TaskObserver | undefined
}

export function createStatusRecorder({ resources, events, leadership, observer }: RecorderDeps): StatusRecorder {
  /** The current object, if only parts other than its status have changed. */
  async function rebase(task: Task, starts: boolean, conflict: unknown): Promise<Task> {
    const fresh = await resources.get('Task', task.metadata)
    if (fresh === undefined || fresh.metadata.uid !== task.metadata.uid) {
      throw new SvcError('NotFound', `task ${task.metadata.namespace}/${task.metadata.name} no longer exists`)
    }
    if (!isSameStatus(dropWorkspace(fresh.status), dropWorkspace(task.status))) throw conflict
    // The spec that was read is the one that starts, and it is fixed from then on; a changed one starts over.
    if (starts && fresh.metadata.generation !== task.metadata.generation) throw conflict
    return fresh
  }

  // The controller is the only writer of status, but for that of the execution workspace, so a conflict usually means a
  // change of spec or metadata. Writing again here keeps the events of this step from being written twice.
  async function write(task: Task, change: StatusChange): Promise<Task> {
    const status = applyChange(task, change)
    if (isSameStatus(task.status, status)) return task
    const written = await writeOver(task, { target: task, status, triesLeft: maxWrites - 1 })
    observer?.observeTask(measureChange(task, status))
    return written
  }

  async function writeOver(task: Task, { target, status, triesLeft }: Write): Promise<Task> {
    try {
      return await resources.updateStatus('Task', { ...target, status })
    } catch (error) {
      if (!isSvcError(error, 'Conflict') || triesLeft === 0) throw error
      const starts = status.phase === 'Running' && task.status?.phase !== 'Running'
      const target = await rebase(task, starts, error)
      return await writeOver(task, { target, status: keepWorkspace(task, target, status), triesLeft: triesLeft - 1 })
    }
  }

  async function append(task: Task, event: TaskEvent): Promise<void> {
    const { uid, namespace, name } = task.metadata
    const attempt = event.attempt ?? task.status?.attempts ?? 0
    const message = redactText(event.message)
    await events.append({ ...event, message, taskUid: uid, namespace, taskName: name, attempt }, () =>
      leadership.requireTerm(),
    )
    observer?.countTimelineEvents(1)
  }

  return {
    append,
    write,
    async move(task, event, change) {
      await append(task, event)
      return await write(task, change)
    },
  }
}
