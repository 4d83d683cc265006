// Tasks: stamped with the verified identity of the requester, and with no other; leftovers of a predecessor are removed
// first.
import { isDeepStrictEqual } from 'node:util'
import { findNameProblems } from '../../../contract/api/tasks/task-body.ts'
import type { Task } from '../../../contract/kinds/tasks/task.ts'
import { refuse } from '../../../contract/schema/validation.ts'
import { type Problem, SvcError } from '../../../errors.ts'
import { dropUndefined } from '../../../lib/json.ts'
import { inheritAttribution } from '../../../rules/budgets/attribution.ts'
import { annotateCaller, identifyCaller } from '../../../rules/identity/caller-identity.ts'
import { actsForAnother, findFixedChanges, listChangedFields, startsByChange } from '../../../rules/tasks/changes.ts'
import { cleanupFinalizer } from '../../../rules/tasks/schedule.ts'
import { fitsTask, stampOf } from '../../../rules/tasks/stamp.ts'
import { chooseOrigin } from '../../../rules/workspaces/execution-workspace.ts'
import { findActingTask } from '../../budgets/billed-caller.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import { isOwn, joinSession, requireActingInSession, requireActingInTask } from './acting.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

const identityFields = ['requestedBy', 'transaction'] as const

/** A client may send back what it read; any other value in the fields that the service stamps is refused (TASK-018). */
function findForged({ spec, before }: AdmissionRequest<'Task'>): Problem[] {
  const message = 'cannot be set by clients; remove it'
  return identityFields
    .filter((field) => spec[field] !== undefined && !isDeepStrictEqual(spec[field], before?.spec[field]))
    .map((field) => ({ path: `spec.${field}`, message }))
}

/** Conflict for a field that can no longer change once the task has started. */
function refuseFixed({ metadata, status }: Task, fixed: readonly string[]): void {
  if (fixed.length === 0) return
  const phase = status?.phase ?? 'Pending'
  const details = fixed.map((field) => ({ path: `spec.${field}`, message: `is fixed: the task is ${phase}` }))
  const fields = fixed.map((field) => `spec.${field}`).join(', ')
  const message = `${fields} can no longer be changed: task "${metadata.name}" has started and is ${phase}`
  throw new SvcError('Conflict', `${message}; create a new task instead`, { details })
}

/** Conflict; Forbidden when the task acts for somebody else, or has Secrets that the caller has no right to. */
async function checkChange(
  before: Task,
  request: AdmissionRequest<'Task'>,
  deps: UsecaseDeps,
): Promise<Admitted['undo']> {
  const { caller, name, spec } = request
  const changed = listChangedFields(before, spec)
  refuseFixed(before, findFixedChanges(before, changed))
  // Also a change of when it runs: whoever starts it decides with which files, agent and session it does.
  // What counts of sessions is the one that the task is in afterwards: whoever takes it out of one needs nothing there.
  const after = { ...before, spec: dropUndefined({ ...before.spec, sessionRef: spec.sessionRef }) }
  const starts = changed.includes('sessionRef') || startsByChange(before, changed)
  if (changed.length > 0) await requireActingInTask(caller, after, deps, starts)
  if (actsForAnother(before, changed, stampOf(caller).spec.requestedBy))
    throw new SvcError('Forbidden', `task "${name}" acts for somebody else, and only they may change what it does`)
  if (changed.length === 0) return undefined
  return joinSession(caller, { task: { ...before, spec }, isJudged: starts || !isOwn(caller, before) }, deps)
}

/** A replaced task keeps the identity it was created with, whoever changes it. */
function keepStamp({ spec }: Task): Admitted {
  const { requestedBy, transaction } = spec
  return { spec: { requestedBy, transaction } }
}

/** InvalidRequest for a workspace that cannot be had as things are: of a template without the agent's program, for one. */
async function requireWorkspace(request: AdmissionRequest<'Task'>, { ports, settings }: UsecaseDeps): Promise<void> {
  const { namespace, spec, before } = request
  const isSame = isDeepStrictEqual(before?.spec.execution, spec.execution)
  if (settings.workspaces === undefined || isSame) return
  const { name = '', namespace: home = namespace } = spec.agentRef ?? {}
  const agent = await ports.resources.get('Agent', { namespace: home, name })
  const wanted = chooseOrigin(settings.workspaces, { spec, metadata: { namespace } }, agent)
  if (wanted === undefined) return
  const { provider, ...origin } = wanted
  const problem = await ports.executionWorkspaces?.[provider]?.findProblem?.(dropUndefined({ namespace, ...origin }))
  if (problem !== undefined)
    refuse('task', [{ path: `spec.execution.workspace.${problem.of}`, message: problem.message }])
}

/**
 * InvalidRequest for an identity that the client supplies; Forbidden for one that does not fit into a task. On an
 * update, Conflict for fields that can no longer change.
 */
export async function admitTask(request: AdmissionRequest<'Task'>, deps: UsecaseDeps): Promise<Admitted> {
  const { caller, before, namespace, spec } = request
  refuse('task', findForged(request))
  refuse('task', findNameProblems(request.name, request.spec))
  await requireWorkspace(request, deps)
  if (before !== undefined) {
    return { ...keepStamp(before), undo: await checkChange(before, request, deps) }
  }
  await requireActingInSession(caller, { namespace, session: spec.sessionRef?.name }, deps)
  const stamp = stampOf(caller)
  if (!fitsTask(stamp)) {
    throw new SvcError(
      'Forbidden',
      'the identity in this token is too long for a task; ask the issuer for a smaller one',
    )
  }
  const acting = await findActingTask(deps.ports.resources, caller)
  const annotations = {
    ...stamp.annotations,
    ...annotateCaller(identifyCaller(caller)),
    ...(acting && inheritAttribution(acting)),
  }
  const task = { metadata: { namespace, annotations }, spec } as unknown as Task
  const undo = await joinSession(caller, { task, isJudged: true }, deps)
  return { finalizers: [cleanupFinalizer], labels: stamp.labels, annotations, spec: stamp.spec, undo }
}
