// Refuses tasks that would call a model when a budget of their creator is used up.

import { identifyCaller } from '../../../rules/identity/caller-identity.ts'
import type { UsecaseDeps } from '../../service/deps.ts'
import type { AdmissionRequest } from './request.ts'

/** BudgetExceeded. A schedule may be created at any time: its runs are checked when they start. */
export async function requireSpendable(
  { caller, namespace, spec, before }: AdmissionRequest<'Task'>,
  { ledger }: UsecaseDeps,
): Promise<void> {
  if (before !== undefined || spec.type === 'container' || spec.schedule !== undefined) return
  await ledger.require({ namespace, agent: spec.agentRef?.name, caller: identifyCaller(caller) })
}
