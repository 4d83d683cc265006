// Children of a task: the list in a parent's status, old runs of a schedule, and a coordinator's limit.
import type { ChildTask } from '../../contract/kinds/tasks/child-task.ts'
import { isTerminalPhase, type Task } from '../../contract/kinds/tasks/task.ts'
import { isSvcError } from '../../errors.ts'
import { readResultText } from '../../lookup/result-text.ts'
import type { ResourceReader, Resources } from '../../ports/resources/resources.ts'
import { summarizeChild } from '../../rules/coordination/children.ts'
import { agentKeyOf } from '../../rules/tasks/acting.ts'
import { markCancelled } from '../../rules/tasks/decision.ts'
import { listExpiredRuns } from '../../rules/tasks/schedule.ts'
import { parentOf } from '../../rules/tasks/stamp.ts'
import { formatKey } from '../engine/controller.ts'
import { type ReconcileContext, siblingsOf, taskKeyOf } from './context.ts'
import { removeEnded } from './expiry.ts'
import type { StatusChange } from './status-recorder.ts'

const maxResultBytes = 4 * 4096 + 4

export async function readChildren(context: ReconcileContext, parent: Task): Promise<Task[]> {
  const { namespace, uid } = parent.metadata
  const { items } = await context.resources.list('Task', { namespace, fields: { owner: uid } })
  return items
}

async function summarizeChildren(context: ReconcileContext, children: Task[]): Promise<ChildTask[]> {
  const summaries: ChildTask[] = []
  for (const child of children) {
    const isReadable = isTerminalPhase(child.status?.phase) && child.status?.resultRef?.available === true
    const which = { taskUid: child.metadata.uid }
    const result = isReadable ? await readResultText(context.records.results, which, maxResultBytes) : undefined
    summaries.push(summarizeChild(child, result))
  }
  return summaries
}

async function listChildTasks(context: ReconcileContext, parent: Task): Promise<Pick<StatusChange, 'childTasks'>> {
  const childTasks = await summarizeChildren(context, await readChildren(context, parent))
  return { childTasks: childTasks.length > 0 ? childTasks : undefined }
}

/** Whether children have changed since the last look; runs of a schedule are kept by its history, not in its status. */
function takeChange({ state }: ReconcileContext, parent: Task): boolean {
  return state.changedParents.delete(taskKeyOf(parent)) && parent.spec.schedule === undefined
}

/** Updates a parent's status when one of its children changed, also after its own end. */
export async function updateChildTasks(context: ReconcileContext, parent: Task): Promise<Task> {
  if (!takeChange(context, parent)) return parent
  try {
    return await context.recorder.write(parent, await listChildTasks(context, parent))
  } catch (error) {
    context.state.changedParents.add(taskKeyOf(parent))
    throw error
  }
}

/**
 * What a parent's last status says of its children: a change of theirs may be as young as its own end. It stays marked, since
 * that status may not be written; the ended parent looks again.
 */
export async function readLastChildTasks(context: ReconcileContext, parent: Task): Promise<StatusChange> {
  const isChanged = context.state.changedParents.has(taskKeyOf(parent)) && parent.spec.schedule === undefined
  if (!isChanged && parent.status?.childTasks === undefined) return {}
  return await listChildTasks(context, parent)
}

/** A coordinator that was cancelled or failed waits for nothing any more: what it has delegated is cancelled too. */
export async function cancelDelegated(context: ReconcileContext, parent: Task, why: string): Promise<void> {
  if (parent.spec.type !== 'ai') return
  const reason = `its coordinator "${parent.metadata.name}" ${why}`
  for (const child of await readChildren(context, parent)) {
    if (isTerminalPhase(child.status?.phase) || siblingsOf(child) === undefined) continue
    await requestCancel(context.resources, child, reason)
  }
}

async function requestCancel(resources: Resources, child: Task, reason: string): Promise<void> {
  try {
    await resources.update('Task', markCancelled(child, reason))
  } catch (error) {
    if (isSvcError(error, 'NotFound')) return
    if (!isSvcError(error, 'Conflict')) throw error
    const fresh = await resources.get('Task', child.metadata)
    if (fresh !== undefined && fresh.metadata.uid === child.metadata.uid) await requestCancel(resources, fresh, reason)
  }
}

/** Removes scheduled runs beyond the history limits. */
export async function removeExpiredRuns(context: ReconcileContext, parent: Task, children: Task[]): Promise<void> {
  for (const run of listExpiredRuns(parent, children)) await removeEnded(context.resources, run)
}

/** Key of the task's parent, or undefined. */
export function parentKeyOf(task: Task): string | undefined {
  const parent = parentOf(task)
  return parent && formatKey({ namespace: task.metadata.namespace, name: parent.name })
}

/** The coordinator's maxConcurrentChildren; undefined when the parent or its agent no longer exists. */
export async function findSiblingLimit(resources: ResourceReader, child: Task): Promise<number | undefined> {
  const { namespace } = child.metadata
  const owner = parentOf(child)
  const parent = owner && (await resources.get('Task', { namespace, name: owner.name }))
  const key = parent && parent.metadata.uid === owner?.uid ? agentKeyOf(parent) : undefined
  const agent = key && (await resources.get('Agent', key))
  return agent?.spec.coordination?.maxConcurrentChildren
}
