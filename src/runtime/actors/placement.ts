// Where an actor runs, as people are told.
import type { ReadyWorkspace } from '../../ports/workspaces/execution-workspaces.ts'
import type { ActorControl, ActorRef } from './control.ts'

/** Only for people: nothing fails when it is not known. */
export async function describePlacement(
  control: ActorControl,
  { atespace, name }: ActorRef,
): Promise<Pick<ReadyWorkspace, 'placement' | 'density'>> {
  const workers = await control.listWorkers().catch(() => [])
  const own = workers.find((worker) => worker.actor_id === name && worker.actor_atespace === atespace)
  if (own === undefined || own.node_name === '') return {}
  const sharing = workers.filter((worker) => worker.node_name === own.node_name && worker.actor_id !== '')
  return { placement: own.node_name, density: sharing.length }
}
