// Tasks that would ask a model, while the budgets of whoever asks for them last.

import { identifyCaller } from '../../rules/caller-identity.ts'
import type { UsecaseDeps } from '../deps.ts'
import type { AdmissionRequest } from './request.ts'

/** BudgetExceeded. A schedule may be made at any time: its runs are asked about when they start. */
export async function requireSpendable(
  { caller, namespace, spec, before }: AdmissionRequest<'Task'>,
  { ledger }: UsecaseDeps,
): Promise<void> {
  if (before !== undefined || spec.type === 'container' || spec.schedule !== undefined) return
  await ledger.require({ namespace, agent: spec.agentRef?.name, caller: identifyCaller(caller) })
}
