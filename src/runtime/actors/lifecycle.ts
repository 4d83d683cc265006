// How actors end, whoever they belong to.
import type { ActorControl, ActorRef } from './control.ts'

/** Keeps its files, frees its worker. Idempotent. */
export async function suspendActor(control: ActorControl, ref: ActorRef): Promise<void> {
  const found = await control.get(ref)
  if (found === undefined || found.status === 'STATUS_SUSPENDED') return
  await control.suspend(ref)
}

/** Only a suspended one can be deleted. Idempotent. */
export async function removeActor(control: ActorControl, ref: ActorRef): Promise<void> {
  await suspendActor(control, ref)
  await control.delete(ref)
}
