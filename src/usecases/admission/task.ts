// Tasks: stamped with the verified identity that asks for them, and never with another; what they leave behind goes first.
import { isDeepStrictEqual } from 'node:util'
import type { Task } from '../../contract/resources/task.ts'
import { refuse } from '../../contract/validation.ts'
import { type Problem, SvcError } from '../../errors.ts'
import { annotateCaller, identifyCaller } from '../../rules/caller-identity.ts'
import { cleanupFinalizer } from '../../rules/scheduled-run.ts'
import { fitsTask, stampOf } from '../../rules/stamp.ts'
import type { AdmissionRequest, Admitted } from './admission.ts'

const identityFields = ['requestedBy', 'transaction'] as const

/** What GET gave can be sent back; nothing else may stand where the service stamps (TASK-018). */
function findForged({ spec, before }: AdmissionRequest<'Task'>): Problem[] {
  const message = 'can not be set by clients; remove it'
  return identityFields
    .filter((field) => spec[field] !== undefined && !isDeepStrictEqual(spec[field], before?.spec[field]))
    .map((field) => ({ path: `spec.${field}`, message }))
}

/** A replaced task keeps the identity it was made with, whoever changes it. */
function keepStamp({ spec }: Task): Admitted {
  const { requestedBy, transaction } = spec
  return { spec: { requestedBy, transaction } }
}

/** InvalidRequest for an identity that a client made up; Forbidden for one that does not fit into a task. */
export function admitTask(request: AdmissionRequest<'Task'>): Admitted {
  const { caller, before } = request
  refuse('task', findForged(request))
  if (before !== undefined) return keepStamp(before)
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
