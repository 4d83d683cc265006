// The input of admission, and what admission adds to an object.
import type { Kind, ResourceOf, SpecOf } from '../../../contract/kinds/index.ts'
import type { Caller } from '../../../ports/identity/identity.ts'
import { findBilledCaller } from '../../budgets/billed-caller.ts'
import type { UsecaseDeps } from '../../service/deps.ts'

export type AdmissionRequest<K extends Kind> = {
  caller: Caller
  namespace: string
  name: string
  spec: SpecOf<K>
  /** Present on an update: the object as stored. */
  before?: ResourceOf<K>
}

/** What the service itself writes into the object. */
export type Admitted = {
  finalizers?: string[]
  /** Labels of the service's own domain. */
  labels?: Record<string, string>
  /** Spec fields that the service sets; undefined removes one. */
  spec?: Record<string, unknown>
  /** Annotations of the service's own domain; undefined removes one. */
  annotations?: Record<string, string | undefined>
  /** Takes back what was noted for the object, when it is not stored after all. */
  undo?: (() => Promise<void>) | undefined
}

/** BudgetExceeded. A schedule may be created at any time: its runs are checked when they start. */
export async function requireSpendable(
  { caller, namespace, spec, before }: AdmissionRequest<'Task'>,
  { ledger, ports }: UsecaseDeps,
): Promise<void> {
  if (before !== undefined || spec.type === 'container' || spec.schedule !== undefined) return
  const payer = await findBilledCaller(ports.resources, caller)
  await ledger.require({ namespace, agent: spec.agentRef?.name, caller: payer })
}

/** What was noted for a write is taken back when it fails. */
export async function orUndo<T>(undo: Admitted['undo'], write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    await undo?.()
    throw error
  }
}
