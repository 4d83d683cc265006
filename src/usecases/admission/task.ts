// Tasks: stamped with the verified identity that asks for them, and never with another; what they leave behind goes first.
import { isDeepStrictEqual } from 'node:util'
import type { Task } from '../../contract/resources/task.ts'
import { refuse } from '../../contract/validation.ts'
import { type Problem, SvcError } from '../../errors.ts'
import { annotateCaller, identifyCaller } from '../../rules/caller-identity.ts'
import { cleanupFinalizer } from '../../rules/scheduled-run.ts'
import { fitsTask, stampedLabelKeys, stampOf } from '../../rules/stamp.ts'
import type { AdmissionRequest, Admitted } from './admission.ts'

const identityFields = ['requestedBy', 'transaction'] as const

type Labels = Readonly<Record<string, string>> | undefined

function findForgedLabels(given: Labels, stored: Labels): Problem[] {
  return stampedLabelKeys
    .filter((key) => given?.[key] !== undefined && given[key] !== stored?.[key])
    .map((key) => ({ path: `metadata.labels[${JSON.stringify(key)}]`, message: 'is set by the service; remove it' }))
}

/** What GET gave can be sent back; nothing else may stand where the service stamps (TASK-018). */
function findForged({ spec, labels, before }: AdmissionRequest<'Task'>): Problem[] {
  const message = 'can not be set by clients; remove it'
  const fields = identityFields.filter(
    (field) => spec[field] !== undefined && !isDeepStrictEqual(spec[field], before?.spec[field]),
  )
  return [
    ...fields.map((field) => ({ path: `spec.${field}`, message })),
    ...findForgedLabels(labels, before?.metadata.labels),
  ]
}

/** A replaced task keeps the identity it was made with, whoever changes it. */
function keepStamp({ metadata, spec }: Task): Admitted {
  const { requestedBy, transaction } = spec
  const kept = Object.entries(metadata.labels ?? {}).filter(([key]) => stampedLabelKeys.includes(key))
  return { labels: Object.fromEntries(kept), spec: { requestedBy, transaction } }
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
