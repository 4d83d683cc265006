// What actors are for those who use them as workspaces.
import type { WorkspaceState } from '../../ports/execution-workspaces.ts'
import type { Actor, ActorRef } from './control.ts'

export function refOf({ namespace, name }: { namespace: string; name: string }): ActorRef {
  return { atespace: namespace, name }
}

/** What an actor that was never resumed and one that rests have in common is their status. */
export function describeActor(actor: Actor | undefined): WorkspaceState {
  if (actor === undefined) return { phase: 'Absent' }
  switch (actor.status) {
    case 'STATUS_RUNNING':
      return { phase: 'Ready' }
    case 'STATUS_SUSPENDED':
      return actor.latest_snapshot_info === null
        ? { phase: 'Pending', message: 'was not resumed yet' }
        : { phase: 'Suspended' }
    case 'STATUS_PAUSED':
      return { phase: 'Suspended' }
    default:
      return { phase: 'Pending', message: `is ${actor.status.replace('STATUS_', '').toLowerCase()}` }
  }
}
