// Tasks: what they leave behind is removed before they are, and who made them is kept for the sums of usage.
import { cleanupFinalizer } from '../../rules/scheduled-run.ts'
import type { AdmissionRequest, Admitted } from './admission.ts'

/** Name of the caller who created the task (USAGE-002). */
export const callerAnnotation = 'svc.ai/caller'

export function admitTask(request: AdmissionRequest<'Task'>): Admitted {
  if (request.before !== undefined) return {}
  return { finalizers: [cleanupFinalizer], annotations: { [callerAnnotation]: request.caller.username } }
}
