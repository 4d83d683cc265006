// Tasks: stamped with the verified identity that asks for them, and never with another; what they leave behind goes first.

import { isDeepStrictEqual } from 'node:util'
import { findNameProblems } from '../../contract/api/task-body.ts'
import type { Task } from '../../contract/resources/task.ts'
import { refuse } from '../../contract/validation.ts'
import { type Problem, SvcError } from '../../errors.ts'
import { annotateCaller, identifyCaller } from '../../rules/caller-identity.ts'
import { cleanupFinalizer } from '../../rules/scheduled-run.ts'
import { fitsTask, stampOf } from '../../rules/stamp.ts'
import { actsForAnother, findFixedChanges, listChangedFields } from '../../rules/task-changes.ts'
import type { AdmissionRequest, Admitted } from './request.ts'

const identityFields = ['requestedBy', 'transaction'] as const

/** What GET gave can be sent back; nothing else may stand where the service stamps (TASK-018). */
function findForged({ spec, before }: AdmissionRequest<'Task'>): Problem[] {
  const message = 'cannot be set by clients; remove it'
  return identityFields
    .filter((field) => spec[field] !== undefined && !isDeepStrictEqual(spec[field], before?.spec[field]))
    .map((field) => ({ path: `spec.${field}`, message }))
}

/** Conflict for a field that the start of the task has fixed. */
function refuseFixed({ metadata, status }: Task, fixed: readonly string[]): void {
  if (fixed.length === 0) return
  const phase = status?.phase ?? 'Pending'
  const details = fixed.map((field) => ({ path: `spec.${field}`, message: `is fixed: the task is ${phase}` }))
  const fields = fixed.map((field) => `spec.${field}`).join(', ')
  const message = `${fields} cannot be changed any more: task "${metadata.name}" has started and is ${phase}`
  throw new SvcError('Conflict', `${message}; make a new task instead`, { details })
}

/** Conflict, or Forbidden where the task acts for somebody else. */
function checkChange(before: Task, { caller, name, spec }: AdmissionRequest<'Task'>): void {
  const changed = listChangedFields(before, spec)
  refuseFixed(before, findFixedChanges(before, changed))
  if (!actsForAnother(before, changed, stampOf(caller).spec.requestedBy)) return
  throw new SvcError('Forbidden', `task "${name}" acts for somebody else, who alone may change what it does`)
}

/** A replaced task keeps the identity it was made with, whoever changes it. */
function keepStamp({ spec }: Task): Admitted {
  const { requestedBy, transaction } = spec
  return { spec: { requestedBy, transaction } }
}

/**
 * InvalidRequest for an identity that a client made up; Forbidden for one that does not fit into a task. A change: Conflict
 * for what the start of the task has fixed.
 */
export function admitTask(request: AdmissionRequest<'Task'>): Admitted {
  const { caller, before } = request
  refuse('task', findForged(request))
  refuse('task', findNameProblems(request.name, request.spec))
  if (before !== undefined) {
    checkChange(before, request)
    return keepStamp(before)
  }
  const stamp = stampOf(caller)
  if (!fitsTask(stamp)) {
    throw new SvcError(
      'Forbidden',
      'the identity in this token is too long for a task; ask the issuer for a smaller one',
    )
  }
  const annotations = { ...stamp.annotations, ...annotateCaller(identifyCaller(caller)) }
  return { finalizers: [cleanupFinalizer], labels: stamp.labels, annotations, spec: stamp.spec }
}
