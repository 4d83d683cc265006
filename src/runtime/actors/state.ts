// What actors are for those who use them as workspaces, and how they end, whoever they belong to.
import type { WorkspaceState } from '../../ports/workspaces/execution-workspaces.ts'
import type { Actor, ActorControl, ActorRef } from './control.ts'

/** Claims of workspaces; other actors are none of theirs. */
const prefix = 'svc-ws-'

type Named = { namespace: string; name: string }

export function refOf({ namespace, name }: Named): ActorRef {
  return { atespace: namespace, name }
}

/**
 * Actors of workspaces have the names of their claims and what tells this installation from others: of the same session,
 * two of them must not have the same actor.
 */
export function nameWorkspaceActors(installation: string) {
  const ending = `-${installation}`
  return {
    refOf: ({ namespace, name }: Named): ActorRef => refOf({ namespace, name: `${name}${ending}` }),
    /** The name of its claim; undefined: it is none of ours. */
    claimOf: (actor: string): string | undefined =>
      actor.startsWith(prefix) && actor.endsWith(ending) ? actor.slice(0, -ending.length) : undefined,
  }
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
