// Sources of the task controller's keys: tasks, their workloads, and the objects that waiting tasks refer to.
import { hasAttempt, isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { awaitsSlot, needsAttention, rankTask } from '../../rules/tasks/attention.ts'
import { restsBetweenIterations } from '../../rules/tasks/iteration.ts'
import { isParked } from '../../rules/tasks/parking.ts'
import { createListenerSource, type Enqueue, formatKey, type KeySource } from '../engine/controller.ts'
import { createKindSource, type Observation } from '../engine/kind-source.ts'
import { parentKeyOf } from './children.ts'
import { isolateTask, type ReconcileContext, siblingsOf, taskKeyOf } from './context.ts'
import { lacksEndMark } from './ended.ts'
import { missingReferences } from './state.ts'

/** Changes of children come in bursts, and one look at the parent shows them all. */
const burstMs = 100

function noteParent(context: ReconcileContext, { type, object }: Observation<Task>, enqueue: Enqueue): void {
  const hasEnded = type === 'DELETED' || isTerminalPhase(object.status?.phase)
  // Ended children found by listing were reported when they ended.
  if (type === 'LISTED' && hasEnded) return
  const parent = parentKeyOf(object)
  if (parent === undefined) return
  context.state.changedParents.add(parent)
  // It may be what a parked parent waits for.
  enqueue(parent, hasEnded ? 0 : burstMs)
}

/** Its status says that a child still runs: the child may have ended while nobody was there to see it. */
export function noteOpenChildren({ state }: ReconcileContext, task: Task, enqueue: Enqueue): void {
  if (!task.status?.childTasks?.some(({ phase }) => !isTerminalPhase(phase))) return
  state.changedParents.add(taskKeyOf(task))
  enqueue(taskKeyOf(task), burstMs)
}

/** What listing shows: which tasks run, and which wait for capacity, in which order. */
function observeListed(context: ReconcileContext, task: Task): void {
  const { uid, namespace, generation } = task.metadata
  const key = taskKeyOf(task)
  const siblings = siblingsOf(task)
  if (isParked(task)) return
  if (hasAttempt(task.status)) {
    if (restsBetweenIterations(task)) return
    context.state.scheduler.adopt(key, { namespace, siblings, uid, attempt: task.status?.attempts ?? 0 })
    return
  }
  // The limit on a coordinator's children is only known once the child is looked at.
  if (siblings !== undefined || !awaitsSlot(task)) return
  // Its agent, too, is only known then, and may change this.
  const { mode = 'own' } = isolateTask(context.settings, task, undefined) ?? {}
  context.state.scheduler.enlist({ key, uid, namespace, rank: rankTask(task), generation, mode })
}

function observeTask(context: ReconcileContext, observation: Observation<Task>, enqueue: Enqueue): void {
  const { type, object } = observation
  const { uid } = object.metadata
  const key = taskKeyOf(object)
  noteParent(context, observation, enqueue)
  if (type === 'DELETED') {
    context.state.scheduler.releaseObject(key, uid)
    return
  }
  if (type === 'LISTED') {
    noteOpenChildren(context, object, enqueue)
    observeListed(context, object)
  }
  const isFoundWithWork = type === 'LISTED' && (hasAttempt(object.status) || lacksEndMark(context, object))
  if (isFoundWithWork || needsAttention(object, context.state.scheduler.known(key, uid))) enqueue(key)
}

function createTaskSource(context: ReconcileContext): KeySource {
  const active = ['Running', 'Pending', 'Scheduled'].map((phase) => ({ phase }))
  return createKindSource({
    kind: 'Task',
    resources: context.resources,
    clock: context.clock,
    onObject: (observation, enqueue) => observeTask(context, observation, enqueue),
    // Running tasks must be known before any other may start, or limits would be exceeded.
    first: active,
    onFirst: () => context.state.scheduler.open(),
    resync: active,
  })
}

function createWorkloadSource(context: ReconcileContext): KeySource {
  return createListenerSource('workloads', (enqueue) =>
    context.workloads.onChange(({ namespace, taskName }) => {
      enqueue(formatKey({ namespace, name: taskName }))
      context.state.scheduler.pump()
    }),
  )
}

/** When anything that a task may refer to appears or changes, tasks waiting for it look again. */
function createReferenceSources(context: ReconcileContext): KeySource[] {
  const { resources, clock, secrets, configMaps, state } = context
  const wake = (enqueue: Enqueue) => {
    for (const key of state.waiters.call(missingReferences)) enqueue(key)
  }
  const kinds = ['Agent', 'Provider', 'Tool', 'Skill'] as const
  const sources = kinds.map((kind) =>
    createKindSource({ kind, resources, clock, onObject: (_seen, enqueue) => wake(enqueue), resync: [] }),
  )
  return [
    ...sources,
    createListenerSource('secrets', (enqueue) => secrets.onChange(() => wake(enqueue))),
    createListenerSource('config maps', (enqueue) => configMaps.onChange(() => wake(enqueue))),
  ]
}

/** Workers can become free without an event, so waiting tasks also look again periodically. */
function createCapacitySource(context: ReconcileContext): KeySource {
  return {
    name: 'capacity',
    async run(_enqueue, signal) {
      while (!signal.aborted) {
        await context.clock.sleep(1000, signal).catch(() => undefined)
        context.state.scheduler.pump()
      }
    },
  }
}

export function createTaskSources(context: ReconcileContext): KeySource[] {
  return [
    createTaskSource(context),
    createWorkloadSource(context),
    ...createReferenceSources(context),
    createCapacitySource(context),
  ]
}
