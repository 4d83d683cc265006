// Execution workspaces that are actors: made, resumed and suspended by the control service, used through their daemon.
import { type ExecutionWorkspaces, type ListedWorkspace, WorkspaceError } from '../../ports/execution-workspaces.ts'
import { createActorClaims } from './claims.ts'
import type { Actor } from './control.ts'
import { createInside } from './inside.ts'
import { removeActor, suspendActor } from './lifecycle.ts'
import type { ActorParts } from './parts.ts'
import { createReadiness } from './readiness.ts'
import { describeActor, refOf } from './state.ts'

/** Claims of workspaces; other actors are none of theirs. */
const prefix = 'svc-ws-'

/** `isolated`: pools of other namespaces are refused. */
export function createActorWorkspaces(options: ActorParts & { isolated?: boolean }): ExecutionWorkspaces {
  const { control, templates, clock, isolated = false } = options
  const claims = createActorClaims(templates, isolated)
  const makeReady = createReadiness(options, claims)
  /** The service does not say when an actor was made: not before it was first seen. */
  const seen = new Map<string, Date>()

  return {
    async claim(claim) {
      await claims.requireTemplate(claim)
      await control.create(refOf(claim), claim.template, await claims.requirePool(claim))
    },
    observe: async (claim) => describeActor(await control.get(refOf(claim))),
    async waitUntilReady(claim, { timeoutMs, signal }) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      let last = 'it did not become ready'
      try {
        return await makeReady(claim, { signal: limit, tell: (message) => (last = message) })
      } catch (error) {
        if (!limit.aborted) throw error
        throw new WorkspaceError('ClaimTimeout', `the actor was not ready in time: ${last}`, { cause: error })
      }
    },
    ...createInside(options, claims),
    suspend: (claim) => suspendActor(control, refOf(claim)),
    async delete(claim) {
      await removeActor(control, refOf(claim))
      seen.delete(claim.name)
    },
    async *list() {
      for await (const actor of control.list()) {
        if (!actor.actor_id.startsWith(prefix)) continue
        const createdAt = seen.get(actor.actor_id) ?? clock.now()
        seen.set(actor.actor_id, createdAt)
        yield describeListed(actor, createdAt)
      }
    },
  }
}

function describeListed(actor: Actor, createdAt: Date): ListedWorkspace {
  const template = { namespace: actor.actor_template_namespace, name: actor.actor_template_name }
  const claim = { namespace: actor.atespace, name: actor.actor_id, template, labels: {} }
  return { claim, state: describeActor(actor), createdAt }
}
