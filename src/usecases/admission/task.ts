// Tasks: what they leave behind is removed before they are, and who made them is kept for the sums of usage.
import { callerAnnotation, cleanupFinalizer } from '../../rules/scheduled-run.ts'
import type { AdmissionRequest, Admitted } from './admission.ts'

export function admitTask(request: AdmissionRequest<'Task'>): Admitted {
  if (request.before !== undefined) return {}
  return { finalizers: [cleanupFinalizer], annotations: { [callerAnnotation]: request.caller.username } }
}
